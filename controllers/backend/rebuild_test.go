package backend

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// rebuilding is a namespace in which the operator applies pools.yaml, with the pool edge, whose 2 servers have joined, and a wish.
func rebuilding(wish string) *scope {
	edge := entry("edge", 1, 2, 5)
	s := inForce(entry("default", 0, 1, 1), edge)
	s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
	s.backend.Spec.Designate.Apply = v1alpha1.ApplyJob
	s.backend.Spec.Designate.PoolUpdate = &v1alpha1.PoolUpdate{}
	s.servesAll = func(types.UID, int32, types.UID, time.Time) bool { return false }
	s.pools = []v1alpha1.DesignatePool{pool("default", 0), pool("edge", 1)}
	s.pools[1].Spec.BINDReplicas = 2
	s.pools[1].Annotations = map[string]string{v1alpha1.AnnotationRebuildServer: wish}
	s.objects = together(deployed(entry("default", 0, 1, 1)), deployed(edge))
	s.objects.claims = map[string]*corev1.PersistentVolumeClaim{}
	for ordinal := range int32(2) {
		name := builders.ClaimName(builders.PodName(builders.StatefulSetName(v1alpha1.MultiPool, 1), ordinal))
		s.objects.claims[name] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("claim-of-" + name), Labels: map[string]string{v1alpha1.LabelPoolUID: "uid-edge"},
		}}
	}
	return s
}

func TestWhichServersAreRebuilt(t *testing.T) {
	for name, test := range map[string]struct {
		wish    string
		change  func(*scope)
		refused string
	}{
		"one of two that serve":              {"1", func(*scope) {}, ""},
		"none without the wish":              {"1", func(s *scope) { s.pools[1].Annotations = nil }, "nobody asked"},
		"none that is no number":             {"first", func(*scope) {}, "not the ordinal"},
		"none that is not there":             {"2", func(*scope) {}, "not the ordinal"},
		"none while people apply pools.yaml": {"1", func(s *scope) { s.backend.Spec.Designate.Apply = v1alpha1.ApplyExternal }, "apply: Job"},
		"none without access to Designate":   {"1", func(s *scope) { s.backend.Spec.Designate.Access = nil }, "access"},
		"none of a pool that is removed":     {"1", func(s *scope) { s.stored.Pools[1].Removal = ledger.Deleting }, "being removed"},
		"none while another does not serve":  {"1", func(s *scope) { s.stored.Pools[1].Servers[0].Joined = false }, "server 0"},
		"none while another is not ready": {
			"1", func(s *scope) {
				s.objects.pods[builders.PodName(builders.StatefulSetName(v1alpha1.MultiPool, 1), 0)].Status.Conditions = nil
			}, "server 0",
		},
		"none while another is rebuilt": {"1", func(s *scope) { s.stored.Pools[1].Rebuild(0, "claim") }, "server 0"},
		"none that is the only one": {
			"0", func(s *scope) {
				s.pools[1].Spec.BINDReplicas, s.stored.Pools[1].Servers = 1, s.stored.Pools[1].Servers[:1]
			}, "scale the pool to 2",
		},
		"none without a claim": {"1", func(s *scope) { s.objects.claims = nil }, "no claim"},
	} {
		t.Run(name, func(t *testing.T) {
			s := rebuilding(test.wish)
			test.change(s)
			before := s.stored.DeepCopy()
			planned := s.planned()
			begun := false
			for _, server := range planned.Pool("uid-edge").Servers {
				was := before.Pool("uid-edge").Server(server.Ordinal)
				begun = begun || (was != nil && was.Rebuilding != server.Rebuilding)
			}
			if begun != (test.refused == "") || len(s.begunRebuilds) > 0 != begun {
				t.Errorf("it begins: %v, %d; want %v", begun, len(s.begunRebuilds), test.refused == "")
			}
			told := "nobody asked"
			if len(s.refusedRebuilds) > 0 {
				told = s.refusedRebuilds[0].problem
			}
			if test.refused != "" && !strings.Contains(told, test.refused) {
				t.Errorf("it is refused because %q, want it to say %q", told, test.refused)
			}
			if server := planned.Pool("uid-edge").Server(1); begun && (server.Joined || server.Rebuilding == "" || server.Filled != "") {
				t.Errorf("its entry is %+v, want one that has to be filled and to join anew", server)
			}
		})
	}
}

func TestTheWishIsTakenOffOnceTheLedgerHasItAndARefusalIsToldOnce(t *testing.T) {
	s := rebuilding("1")
	s.stored.Ledger = *s.planned()
	c := serverWith(t, &s.pools[1])
	recorder := events.NewFakeRecorder(10)
	r := &Reconciler{Client: c, Recorder: recorder}
	if err := r.announceRebuilds(t.Context(), s, &s.stored.Ledger); err != nil {
		t.Fatal(err)
	}
	live := &v1alpha1.DesignatePool{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(&s.pools[1]), live); err != nil || len(live.Annotations) > 0 {
		t.Errorf("its annotations are %v (%v), want none", live.Annotations, err)
	}
	if event := <-recorder.Events; !strings.Contains(event, v1alpha1.EventRebuildingServer) {
		t.Errorf("the Event is %q", event)
	}

	for range 3 {
		again := rebuilding("7")
		again.planned()
		if err := r.announceRebuilds(t.Context(), again, &again.stored.Ledger); err != nil {
			t.Fatal(err)
		}
	}
	if told := len(recorder.Events); told != 1 {
		t.Errorf("the refusal is told %d times, want once", told)
	}
}

func TestAServerThatHasJoinedAgainIsTold(t *testing.T) {
	s := rebuilding("1")
	s.pools[1].Annotations = nil
	before := s.stored.DeepCopy()
	before.Pool("uid-edge").Rebuild(1, "claim")
	recorder := events.NewFakeRecorder(10)
	if err := (&Reconciler{Recorder: recorder}).announceRebuilds(t.Context(), s, before); err != nil {
		t.Fatal(err)
	}
	if told := len(recorder.Events); told != 1 {
		t.Errorf("%d Events, want one", told)
	}
}
