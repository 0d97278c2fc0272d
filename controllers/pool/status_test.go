package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// healthy is the scope of a pool with two servers and nothing wrong with it.
func healthy() *scope {
	spec := v1alpha1.DesignatePoolSpec{PoolSettings: v1alpha1.PoolSettings{BINDReplicas: 2}}
	s := &scope{
		pool:    &v1alpha1.DesignatePool{ObjectMeta: metav1.ObjectMeta{Name: "edge", UID: "uid-edge"}, Spec: spec},
		backend: &v1alpha1.DesignateBackend{},
		ledger:  &ledger.Ledger{Mode: v1alpha1.MultiPool},
		entry: &ledger.Pool{UID: "uid-edge", Name: "edge", ID: "an-id", Index: 1, Accepted: spec, Servers: []ledger.Server{
			{Ordinal: 0, RNDCKey: 3, Address: "10.96.1.0", Joined: true}, {Ordinal: 1, RNDCKey: 4, Address: "10.96.1.1", Joined: true},
		}},
		verdict:  acceptance.Verdict{Accepted: true, Holds: true, Reason: v1alpha1.ReasonAccepted, Message: "fine"},
		serving:  found{},
		services: map[string]*corev1.Service{},
		pods:     map[string]*corev1.Pod{},
		statefulSet: &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "designate-backendbind9-pool1", Generation: 4},
			Spec:       appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2)},
			Status:     appsv1.StatefulSetStatus{ObservedGeneration: 4, Replicas: 2, ReadyReplicas: 2, UpdatedReplicas: 2},
		},
	}
	for ordinal := range 2 {
		name := builders.PodName("designate-backendbind9-pool1", int32(ordinal))
		s.pods[name] = &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
		s.services[name] = &corev1.Service{Spec: corev1.ServiceSpec{
			ClusterIP: fmt.Sprintf("10.96.0.%d", ordinal), Selector: map[string]string{"pod": name},
		}}
		s.services[name+"-control"] = &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: fmt.Sprintf("10.96.1.%d", ordinal)}}
	}
	return s
}

func (s *scope) deleted() *scope {
	s.pool.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	return s
}

func TestConditions(t *testing.T) {
	const yes, no = "True ", "False "
	refused := acceptance.Verdict{Reason: v1alpha1.ReasonPoolNameTaken, Message: "held by another"}
	faulty := acceptance.Verdict{Holds: true, Reason: v1alpha1.ReasonInvalidSpec, Message: "wrong"}
	// want are status and reason of Accepted, ServersReady, Ready, and RemovalBlocked if it is there.
	type want struct{ Accepted, ServersReady, Ready, RemovalBlocked string }
	accepted := yes + v1alpha1.ReasonAccepted
	unready := func(reason string) want { return want{accepted, no + reason, no + reason, ""} }
	for name, test := range map[string]struct {
		change func(*scope)
		want   want
	}{
		"all is well": {func(*scope) {}, want{accepted, yes + v1alpha1.ReasonServersReady, yes + v1alpha1.ReasonReady, ""}},
		"a server that is ready has no address for Designate": {
			func(s *scope) { s.services["designate-backendbind9-pool1-1-control"].Spec.ClusterIP = "" },
			unready(v1alpha1.ReasonWaitingForAddress),
		},
		"clients are not led to a server that is ready": {
			func(s *scope) {
				s.services["designate-backendbind9-pool1-1"].Spec.Selector["designate.openstack.org/not-joined"] = "true"
			},
			unready(v1alpha1.ReasonWaitingToJoin),
		},
		"the spec is invalid, and the servers go on with the last one": {
			func(s *scope) { s.verdict = faulty },
			want{no + v1alpha1.ReasonInvalidSpec, yes + v1alpha1.ReasonServersReady, no + v1alpha1.ReasonInvalidSpec, ""},
		},
		"another pool holds the name": {
			func(s *scope) { s.verdict, s.entry, s.statefulSet = refused, nil, nil },
			want{no + v1alpha1.ReasonPoolNameTaken, no + v1alpha1.ReasonPoolNameTaken, no + v1alpha1.ReasonPoolNameTaken, ""},
		},
		"it has no index yet": {func(s *scope) { s.entry = nil }, unready(v1alpha1.ReasonWaitingForIndex)},
		"servers of the mode before have not left yet": {
			func(s *scope) {
				s.entry.Former = &ledger.Former{Mode: v1alpha1.SinglePool, Servers: []ledger.Server{{Ordinal: 0}}}
			},
			unready(v1alpha1.ReasonServersMoving),
		},
		"the backend is missing":              {func(s *scope) { s.backend = nil }, unready(v1alpha1.ReasonBackendMissing)},
		"the newest spec is not in force yet": {func(s *scope) { s.pool.Spec.Description = "newer" }, unready(v1alpha1.ReasonSpecPending)},
		"something is in the way":             {func(s *scope) { s.blame(v1alpha1.ReasonNameTaken, "taken") }, unready(v1alpha1.ReasonNameTaken)},
		"the first thing in the way counts": {
			func(s *scope) {
				s.blame(v1alpha1.ReasonWaitingForKeys, "first")
				s.blame(v1alpha1.ReasonNameTaken, "second")
			}, unready(v1alpha1.ReasonWaitingForKeys),
		},
		"there is no StatefulSet yet": {func(s *scope) { s.statefulSet = nil }, unready(v1alpha1.ReasonServersNotReady)},
		"the StatefulSet controller is behind": {
			func(s *scope) { s.statefulSet.Status.ObservedGeneration = 3 }, unready(v1alpha1.ReasonServersNotReady),
		},
		"a server is not ready": {func(s *scope) { s.statefulSet.Status.ReadyReplicas = 1 }, unready(v1alpha1.ReasonServersNotReady)},
		"servers are being replaced": {
			func(s *scope) { s.statefulSet.Status.UpdatedReplicas = 1 }, unready(v1alpha1.ReasonRollingOut),
		},
		"a surplus server has not stopped": {
			func(s *scope) { s.statefulSet.Status.Replicas, s.statefulSet.Status.ReadyReplicas = 3, 3 }, unready(v1alpha1.ReasonScalingDown),
		},
		"a surplus server has not been told to stop": {
			func(s *scope) { s.statefulSet.Spec.Replicas = ptr.To[int32](3) }, unready(v1alpha1.ReasonScalingDown),
		},
		"it is scaled to 0": {
			func(s *scope) {
				s.pool.Spec.BINDReplicas, s.entry.Accepted.BINDReplicas = 0, 0
				s.statefulSet.Spec.Replicas = ptr.To[int32](0)
				s.statefulSet.Status = appsv1.StatefulSetStatus{ObservedGeneration: 4}
			},
			want{accepted, yes + v1alpha1.ReasonScaledToZero, no + v1alpha1.ReasonScaledToZero, ""},
		},
		"its removal is blocked, and it works as before": {
			func(s *scope) {
				s.removal = removal.Verdict{Wanted: true, Reason: v1alpha1.ReasonDesignateAccessMissing, Message: "m"}
			},
			want{accepted, yes + v1alpha1.ReasonServersReady, yes + v1alpha1.ReasonReady, yes + v1alpha1.ReasonDesignateAccessMissing},
		},
		"while it leaves nothing blocks its removal": {
			func(s *scope) {
				s.removal, s.entry.Removal = removal.Verdict{Wanted: true, Allowed: true}, ledger.Withdrawing
			}, unready(v1alpha1.ReasonRemoving),
		},
		"past the point of no return Designate does not answer": {
			func(s *scope) {
				s.removal = removal.Verdict{Wanted: true, Reason: v1alpha1.ReasonDesignateUnreachable, Message: "m"}
				s.entry.Removal = ledger.Deleting
			},
			want{accepted, no + v1alpha1.ReasonRemoving, no + v1alpha1.ReasonRemoving, yes + v1alpha1.ReasonDesignateUnreachable},
		},
		"it was deleted before it had an index": {func(s *scope) { s.deleted().entry = nil }, unready(v1alpha1.ReasonRemoving)},
		"its removal is not news that its backend is missing": {
			func(s *scope) { s.backend, s.entry.Removal = nil, ledger.Withdrawn }, unready(v1alpha1.ReasonRemoving),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			test.change(s)
			conditions := s.conditions()
			of := func(conditionType string) string {
				if c := meta.FindStatusCondition(conditions, conditionType); c != nil {
					if c.Message == "" {
						t.Errorf("%s has no message", conditionType)
					}
					return string(c.Status) + " " + c.Reason
				}
				return ""
			}
			got := want{of(v1alpha1.ConditionAccepted), of(v1alpha1.ConditionServersReady), of(v1alpha1.ConditionReady), of(v1alpha1.ConditionRemovalBlocked)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			for _, c := range conditions {
				if !slices.Contains(ownedConditions, c.Type) {
					t.Errorf("%s is written and not owned, so it would never go", c.Type)
				}
			}
		})
	}
}

func TestWhatIsNotReadyIsNamed(t *testing.T) {
	s := healthy()
	s.statefulSet.Status.ReadyReplicas = 1
	s.pods["designate-backendbind9-pool1-1"] = nil
	message := meta.FindStatusCondition(s.conditions(), v1alpha1.ConditionReady).Message
	if !strings.Contains(message, "designate-backendbind9-pool1-1") || strings.Contains(message, "designate-backendbind9-pool1-0") {
		t.Errorf("the message does not name the one server that is not ready: %s", message)
	}
}

func TestAPoolWaitsForDesignateToSayWhetherItHasOneOfThatName(t *testing.T) {
	closed := func(listed bool) *scope {
		s := healthy()
		for _, service := range s.services {
			service.Spec.Selector = nil
		}
		for i := range s.entry.Servers {
			s.entry.Servers[i].Joined = false
			if !listed {
				s.entry.Servers[i].Address = ""
			}
		}
		s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
		s.now = time.Unix(1_700_000_000, 0)
		return s
	}
	failing := zones.View{Failure: &designate.Error{Kind: designate.Unauthorised, Operation: "list zones"}, FreshFor: time.Minute}
	fresh := zones.View{Listing: &zones.Listing{Began: time.Unix(1_700_000_000, 0)}, FreshFor: time.Minute}
	for name, test := range map[string]struct {
		view   zones.View
		listed bool
		want   string
	}{
		"Designate has not been asked":                {zones.View{}, false, v1alpha1.ReasonWaitingForListing},
		"Designate cannot be asked":                   {failing, false, v1alpha1.ReasonCredentialsRefused},
		"Designate has said":                          {fresh, false, v1alpha1.ReasonWaitingToJoin},
		"pools.yaml names the pool, asked or not":     {failing, true, v1alpha1.ReasonWaitingToJoin},
		"pools.yaml names the pool, and nobody asked": {zones.View{}, true, v1alpha1.ReasonWaitingToJoin},
	} {
		t.Run(name, func(t *testing.T) {
			s := closed(test.listed)
			s.zones = test.view
			if got := meta.FindStatusCondition(s.conditions(), v1alpha1.ConditionServersReady); got.Reason != test.want {
				t.Errorf("reason %s, want %s", got.Reason, test.want)
			}
		})
	}
}

func TestZonesInTheStatus(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	known := &v1alpha1.PoolZones{Total: 4, ObservedAt: metav1.NewTime(now)}
	view := zones.View{FreshFor: time.Minute, Listing: &zones.Listing{Began: now, Pools: map[string]*zones.PoolZones{"an-id": {Total: 2}}}}
	for name, test := range map[string]struct {
		change func(*scope)
		want   *v1alpha1.PoolZones
	}{
		"those of the pool's id in Designate": {func(*scope) {}, &v1alpha1.PoolZones{Total: 2, ObservedAt: metav1.NewTime(now)}},
		"none without access":                 {func(s *scope) { s.backend.Spec.Designate.Access = nil }, nil},
		"none without a backend":              {func(s *scope) { s.backend = nil }, nil},
		"none before the pool has an id":      {func(s *scope) { s.entry = nil }, nil},
		"those of before while the ledger is lost": {
			func(s *scope) { s.entry, s.ledgerLost = nil, true }, known,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
			s.pool.Status.Zones, s.zones, s.now = known, view, now
			test.change(s)
			if diff := cmp.Diff(test.want, s.zonesStatus()); diff != "" {
				t.Errorf("zones (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusFromTheLedger(t *testing.T) {
	s := healthy()
	s.pods["designate-backendbind9-pool1-1"] = nil
	s.entry.Servers[1].Joined = false
	delete(s.services, "designate-backendbind9-pool1-1")
	var got v1alpha1.DesignatePoolStatus
	s.fillFromLedger(&got)
	want := v1alpha1.DesignatePoolStatus{
		Index: ptr.To[int32](1), PoolID: "an-id", StatefulSet: "designate-backendbind9-pool1",
		Selector: "app.kubernetes.io/instance=designate-backendbind9-pool1,designate.openstack.org/pool-uid=uid-edge",
		Servers: []v1alpha1.PoolServer{
			{Ordinal: 0, Pod: "designate-backendbind9-pool1-0", ClientAddress: "10.96.0.0", ControlAddress: "10.96.1.0", RNDCKey: 3, Ready: true, Joined: true},
			{Ordinal: 1, Pod: "designate-backendbind9-pool1-1", ControlAddress: "10.96.1.1", RNDCKey: 4},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	s.entry, s.ledgerLost = nil, true
	s.fillFromLedger(&got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a lost ledger changes the status (-before +after):\n%s", diff)
	}
	s.ledgerLost = false
	s.fillFromLedger(&got)
	if diff := cmp.Diff(v1alpha1.DesignatePoolStatus{}, got); diff != "" {
		t.Errorf("a pool without an entry still shows one:\n%s", diff)
	}
}
