package acceptance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// pool is a valid DesignatePool that was created some seconds after the first; its UID is that of its object name.
func pool(object, poolName string, age int64) v1alpha1.DesignatePool {
	return v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{
			Name: object, UID: types.UID("uid-" + object), CreationTimestamp: metav1.Unix(1_700_000_000+age, 0),
		},
		Spec: v1alpha1.DesignatePoolSpec{PoolName: poolName, PoolSettings: v1alpha1.PoolSettings{
			BINDReplicas: 1, NSRecords: []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
		}},
	}
}

// invalid is a pool whose spec cannot be accepted.
func invalid(pool v1alpha1.DesignatePool) v1alpha1.DesignatePool {
	pool.Spec.NSRecords = nil
	return pool
}

// outcome is what a test says of a verdict.
type outcome struct {
	Accepted, Holds bool
	Reason          string
}

func TestJudge(t *testing.T) {
	accepted := outcome{Accepted: true, Holds: true, Reason: v1alpha1.ReasonAccepted}
	faulty := outcome{Holds: true, Reason: v1alpha1.ReasonInvalidSpec}
	lost := outcome{Reason: v1alpha1.ReasonPoolNameTaken}
	for name, test := range map[string]struct {
		pools   []v1alpha1.DesignatePool
		entries []ledger.Pool
		want    map[types.UID]outcome
	}{
		"pools of different names are all accepted": {
			pools: []v1alpha1.DesignatePool{pool("a", "", 0), pool("b", "", 0)},
			want:  map[types.UID]outcome{"uid-a": accepted, "uid-b": accepted},
		},
		"of two claims on one name the older wins, whatever the order of the list": {
			pools: []v1alpha1.DesignatePool{pool("a", "edge", 9), pool("b", "edge", 1)},
			want:  map[types.UID]outcome{"uid-a": lost, "uid-b": accepted},
		},
		"of two claims of one second the lower UID wins": {
			pools: []v1alpha1.DesignatePool{pool("b", "edge", 1), pool("a", "edge", 1)},
			want:  map[types.UID]outcome{"uid-a": accepted, "uid-b": lost},
		},
		"an entry in the ledger counts for more than age": {
			pools:   []v1alpha1.DesignatePool{pool("a", "edge", 0), pool("b", "edge", 9)},
			entries: []ledger.Pool{{UID: "uid-b", Object: "b", Name: "edge"}},
			want:    map[types.UID]outcome{"uid-a": lost, "uid-b": accepted},
		},
		"an entry whose object has vanished still holds the name": {
			pools:   []v1alpha1.DesignatePool{pool("a", "edge", 0)},
			entries: []ledger.Pool{{UID: "uid-ghost", Object: "ghost", Name: "edge"}},
			want:    map[types.UID]outcome{"uid-a": lost},
		},
		"an object made anew under its old name is another claim": {
			pools:   []v1alpha1.DesignatePool{pool("edge", "", 5)},
			entries: []ledger.Pool{{UID: "uid-of-the-edge-before", Object: "edge", Name: "edge"}},
			want:    map[types.UID]outcome{"uid-edge": lost},
		},
		"an invalid pool that is older keeps its name": {
			pools: []v1alpha1.DesignatePool{invalid(pool("a", "edge", 0)), pool("b", "edge", 1)},
			want:  map[types.UID]outcome{"uid-a": faulty, "uid-b": lost},
		},
		"an invalid pool that is younger has lost, which it is told first": {
			pools: []v1alpha1.DesignatePool{pool("a", "edge", 0), invalid(pool("b", "edge", 1))},
			want:  map[types.UID]outcome{"uid-a": accepted, "uid-b": lost},
		},
		"names that Designate's database takes for one are one": {
			pools: []v1alpha1.DesignatePool{pool("a", "Édge ", 0), pool("b", "edge", 1), pool("c", "EDGE", 2)},
			want:  map[types.UID]outcome{"uid-a": accepted, "uid-b": lost, "uid-c": lost},
		},
		"so they are for the ledger": {
			pools:   []v1alpha1.DesignatePool{pool("a", "EDGE", 0)},
			entries: []ledger.Pool{{UID: "uid-ghost", Object: "ghost", Name: "edge"}},
			want:    map[types.UID]outcome{"uid-a": lost},
		},
		"default belongs to the pool default, however old the others are that Designate would take for it": {
			pools: []v1alpha1.DesignatePool{pool("a", "Default", 0), pool("default", "", 9)},
			want:  map[types.UID]outcome{"uid-a": {Reason: v1alpha1.ReasonInvalidSpec}, "uid-default": accepted},
		},
		"a pool without poolName claims the name of its object": {
			pools: []v1alpha1.DesignatePool{pool("edge", "", 3), pool("other", "edge", 0)},
			want:  map[types.UID]outcome{"uid-edge": lost, "uid-other": accepted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[types.UID]outcome{}
			for uid, verdict := range Judge(test.pools, test.entries) {
				got[uid] = outcome{verdict.Accepted, verdict.Holds, verdict.Reason}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLoserIsToldWhoHoldsTheName(t *testing.T) {
	verdicts := Judge([]v1alpha1.DesignatePool{pool("winner", "Edge", 0), pool("loser", "edge", 1)}, nil)
	for _, want := range []string{"winner", "uid-winner", `"Edge"`} {
		if message := verdicts["uid-loser"].Message; !strings.Contains(message, want) {
			t.Errorf("the message does not say %s: %s", want, message)
		}
	}
}

func TestAnInvalidSpecIsToldWhatIsWrong(t *testing.T) {
	message := Judge([]v1alpha1.DesignatePool{invalid(pool("a", "", 0))}, nil)["uid-a"].Message
	if !strings.Contains(message, "spec.nsRecords") {
		t.Errorf("the message does not name the field: %s", message)
	}
}

func TestByAge(t *testing.T) {
	pools := []v1alpha1.DesignatePool{pool("d", "", 5), pool("b", "", 0), pool("c", "", 5), pool("a", "", 7)}
	// A time zone makes nobody older.
	pools[1].CreationTimestamp = metav1.NewTime(pools[1].CreationTimestamp.In(time.FixedZone("", 3600)))
	for range 2 {
		var order []string
		for _, pool := range ByAge(pools) {
			order = append(order, pool.Name)
		}
		if diff := cmp.Diff([]string{"b", "c", "d", "a"}, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		slices.Reverse(pools)
	}
}
