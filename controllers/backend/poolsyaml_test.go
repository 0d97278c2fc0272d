package backend

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// compact is an entry of pools.yaml as a test says it: its name, its id, and its targets.
func compact(entries []conversion.PoolEntry) []string {
	var result []string
	for _, e := range entries {
		line := []string{e.Name, e.ID}
		for _, target := range e.Targets {
			line = append(line, target.RNDC.Host+"="+target.RNDCKeyFile)
		}
		result = append(result, strings.ReplaceAll(strings.Join(line, " "), "/etc/designate/rndc-keys/rndc-key-", "#"))
	}
	return result
}

func TestEntries(t *testing.T) {
	defaultID, edgeID := conversion.PoolID(namespace, "default"), conversion.PoolID(namespace, "edge")
	for name, test := range map[string]struct {
		scope func() *scope
		want  []string
	}{
		"every pool with servers, in index order": {
			func() *scope { return inForce(entry("default", 0, 1, 1), entry("edge", 1, 2, 5)) },
			[]string{"default " + defaultID + " 10.96.0.0=#1", "edge " + edgeID + " 10.96.1.0=#5 10.96.1.1=#6"},
		},
		"without an id in SinglePool mode": {
			func() *scope {
				s := inForce(entry("default", 0, 1, 1))
				s.stored.Mode = v1alpha1.SinglePool
				return s
			}, []string{"default  10.96.0.0=#1"},
		},
		"none that has had no server yet": {
			func() *scope {
				edge := entry("edge", 1, 1, 5)
				edge.Servers[0].Address, edge.Servers[0].Joined = "", false
				return inForce(entry("default", 0, 1, 1), edge)
			}, []string{"default " + defaultID + " 10.96.0.0=#1"},
		},
		"none that is being removed": {
			func() *scope {
				edge := entry("edge", 1, 1, 5)
				edge.Removal = ledger.Withdrawing
				return inForce(entry("default", 0, 1, 1), edge)
			}, []string{"default " + defaultID + " 10.96.0.0=#1"},
		},
		"a server that leaves, as long as clients reach it": {
			func() *scope {
				edge := entry("edge", 1, 2, 5)
				edge.Accepted.BINDReplicas = 1
				s := inForce(edge)
				s.facts.Pools = []ledger.PoolFacts{{UID: "uid-edge", Servers: map[int32]ledger.ServerFacts{1: {ClientOpen: true}}}}
				return s
			}, []string{"edge " + edgeID + " 10.96.1.0=#5 10.96.1.1=#6"},
		},
		"not a server that clients do not reach any more": {
			func() *scope {
				edge := entry("edge", 1, 2, 5)
				edge.Accepted.BINDReplicas = 1
				s := inForce(edge)
				s.facts.Pools = []ledger.PoolFacts{
					{UID: "uid-other", Servers: map[int32]ledger.ServerFacts{1: {ClientOpen: true}}},
					{UID: "uid-edge", Servers: map[int32]ledger.ServerFacts{1: {ClientOpen: false}}},
				}
				return s
			}, []string{"edge " + edgeID + " 10.96.1.0=#5"},
		},
		"the last servers of a pool that is scaled to 0": {
			func() *scope {
				edge := entry("edge", 1, 2, 5)
				edge.Accepted.BINDReplicas = 0
				return inForce(edge)
			}, []string{"edge " + edgeID + " 10.96.1.0=#5 10.96.1.1=#6"},
		},
		"without a backend, what the file holds": {
			func() *scope {
				s := inForce(entry("default", 0, 1, 1), entry("edge", 1, 1, 5))
				s.backend, s.current = nil, []conversion.PoolEntry{{Name: "default", ID: "a"}, {Name: "edge", ID: "b"}, {Name: "unknown", ID: "c"}}
				return s
			}, []string{"default a", "edge b", "unknown c"},
		},
		"without a backend, not what is being removed": {
			func() *scope {
				edge := entry("edge", 1, 1, 5)
				edge.Removal = ledger.Withdrawn
				s := inForce(entry("default", 0, 1, 1), edge)
				s.backend, s.current = nil, []conversion.PoolEntry{{Name: "default", ID: "a"}, {Name: "edge", ID: "b"}}
				return s
			}, []string{"default a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.scope()
			before := slices.Clone(s.current)
			got, err := s.entries(asWritten)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, compact(got)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, s.current); diff != "" {
				t.Errorf("what the file holds was changed in place:\n%s", diff)
			}
		})
	}
}

func TestWithoutABackendAnUnreadableFileIsNotTakenForAnEmptyOne(t *testing.T) {
	s := inForce(entry("default", 0, 1, 1))
	s.backend, s.currentErr = nil, errors.New("garbled")
	if entries, err := s.entries(asWritten); err == nil {
		t.Errorf("got %v without an error", compact(entries))
	}
}

const before = "what it held before"

// poolsYAML is the ConfigMap as some manager of it has made it.
func poolsYAML(managedBy string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: v1alpha1.PoolsYAMLName, Labels: map[string]string{v1alpha1.LabelManagedBy: managedBy},
		},
		Data: map[string]string{v1alpha1.PoolsYAMLKey: before},
	}
}

func TestEnsurePoolsYAML(t *testing.T) {
	broken := entry("edge", 1, 1, 5)
	broken.Accepted.NSRecords = nil
	down := errors.New("the API server is down")
	for name, test := range map[string]struct {
		scope     *scope
		managedBy string
		writeErr  error
		// reason is the outcome's; written and settled are what else it says.
		reason           string
		written, settled bool
		fails            bool
	}{
		"it is written": {
			scope: inForce(entry("default", 0, 1, 1)), managedBy: v1alpha1.ManagedByOperator,
			reason: v1alpha1.ReasonWritten, written: true, settled: true,
		},
		"nothing to write empties nothing": {
			scope: inForce(), managedBy: v1alpha1.ManagedByOperator, reason: v1alpha1.ReasonNoServersYet, settled: true,
		},
		"a rendering that is not usable replaces nothing, and nothing may leave": {
			scope: inForce(entry("default", 0, 1, 1), broken), managedBy: v1alpha1.ManagedByOperator,
			reason: v1alpha1.ReasonRenderFailed, fails: true,
		},
		"somebody else's is left alone, and nothing may leave": {
			scope: inForce(entry("default", 0, 1, 1)), managedBy: "Helm", reason: v1alpha1.ReasonNameTaken, fails: true,
		},
		"a write that fails is an error, and nothing may leave": {
			scope: inForce(entry("default", 0, 1, 1)), managedBy: v1alpha1.ManagedByOperator, writeErr: down,
			reason: v1alpha1.ReasonWriteFailed, fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := interceptor.NewClient(serverWith(t, poolsYAML(test.managedBy)), interceptor.Funcs{
				Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
					if test.writeErr != nil {
						return test.writeErr
					}
					return c.Apply(ctx, obj, opts...)
				},
			})
			r := &Reconciler{Client: c, APIReader: c}
			test.scope.currentText = before
			err := r.ensurePoolsYAML(context.Background(), test.scope)
			if (err != nil) != test.fails {
				t.Errorf("error %v, want one: %v", err, test.fails)
			}
			outcome := test.scope.poolsYAML
			if outcome.reason != test.reason || outcome.written != test.written || outcome.settled != test.settled || outcome.message == "" {
				t.Errorf("outcome %+v, want reason %s, written %v, settled %v", outcome, test.reason, test.written, test.settled)
			}
			configMap := &corev1.ConfigMap{}
			if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: v1alpha1.PoolsYAMLName}, configMap); err != nil {
				t.Fatal(err)
			}
			text := configMap.Data[v1alpha1.PoolsYAMLKey]
			if test.written {
				if outcome.hash != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) || text == before {
					t.Errorf("hash %s of the text %q", outcome.hash, text)
				}
			} else if text != before {
				t.Errorf("the file holds %q", text)
			}
		})
	}
}
