package pool

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// found are servers of which something is known, by ordinal.
type found map[int32]struct {
	difference statistics.Difference
	err        error
}

func (f found) Confirmed(ordinal int32) (statistics.Difference, bool) {
	server, known := f[ordinal]
	return server.difference, known && server.err == nil
}

func (f found) Failure(ordinal int32) error { return f[ordinal].err }

func (f found) Seen(ordinal int32, _ types.UID) (statistics.Tally, bool) {
	server, known := f[ordinal]
	return server.difference.Missing, known && server.err == nil
}

func (f found) Lacks(ordinal int32) statistics.Tally { return f[ordinal].difference.Missing }

// asked is a healthy pool with access to Designate, whose servers lack nothing.
func asked() *scope {
	s := healthy()
	s.now = time.Unix(1_700_000_000, 0)
	s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://192.0.2.1:9001"}
	s.zones = zones.View{Listing: &zones.Listing{Began: s.now}, FreshFor: time.Hour}
	s.serving = found{0: {}, 1: {}}
	return s
}

func lacking(names ...string) statistics.Difference {
	return statistics.Difference{Missing: statistics.Tally{Total: len(names), Names: names}}
}

func TestServing(t *testing.T) {
	const yes, no, unknown = "True ", "False ", "Unknown "
	before := metav1.Condition{Type: v1alpha1.ConditionServing, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonServing}
	for name, test := range map[string]struct {
		change  func(*scope)
		want    string
		message string
	}{
		"every server has every zone": {func(*scope) {}, yes + v1alpha1.ReasonServing, "joined: 2"},
		"nobody can ask Designate":    {func(s *scope) { s.backend.Spec.Designate.Access = nil }, "", ""},
		"no server is wanted":         {func(s *scope) { s.entry.Accepted.BINDReplicas = 0 }, "", ""},
		"the pool is being removed":   {func(s *scope) { s.entry.Removal = "Withdrawing" }, "", ""},
		"the last listing does not count": {
			func(s *scope) { s.zones = zones.View{Failure: errors.New("no"), FailedAt: s.now} }, unknown + v1alpha1.ReasonDesignateUnreachable, "should have",
		},
		"a server lacks zones": {
			func(s *scope) { s.serving = found{0: {}, 1: {difference: lacking("a.", "b.")}} }, no + v1alpha1.ReasonZonesMissing, "designate-backendbind9-pool1-1 lacks 2 (a., b.)",
		},
		"a server that has not joined lacks zones": {
			func(s *scope) {
				s.serving = found{0: {}, 1: {difference: lacking("a.")}}
				s.entry.Servers[1].Joined = false
			}, yes + v1alpha1.ReasonServing, "joined: 1",
		},
		"a server does not answer": {
			func(s *scope) { s.serving = found{0: {}, 1: {err: errors.New("no answer")}} }, unknown + v1alpha1.ReasonServersNotAsked, "no answer",
		},
		"one lacks zones and the other does not answer": {
			func(s *scope) { s.serving = found{0: {err: errors.New("no")}, 1: {difference: lacking("a.")}} }, no + v1alpha1.ReasonZonesMissing, "",
		},
		"no server has joined": {
			func(s *scope) { s.entry.Servers[0].Joined, s.entry.Servers[1].Joined = false, false }, unknown + v1alpha1.ReasonServersNotAsked, "",
		},
		"a server has not been asked yet": {func(s *scope) { s.serving = found{0: {}} }, unknown + v1alpha1.ReasonServersNotAsked, ""},
		"a server has not been asked yet by an operator that has started anew": {
			func(s *scope) { s.serving = found{0: {}}; s.pool.Status.Conditions = []metav1.Condition{before} }, yes + v1alpha1.ReasonServing, "",
		},
		"nor has Designate": {
			func(s *scope) { s.zones = zones.View{}; s.pool.Status.Conditions = []metav1.Condition{before} }, yes + v1alpha1.ReasonServing, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked()
			test.change(s)
			got, message := "", ""
			if condition := s.servingCondition(); condition != nil {
				got, message = string(condition.Status)+" "+condition.Reason, condition.Message
			}
			if got != test.want || !strings.Contains(message, test.message) {
				t.Errorf("got %q: %q", got, message)
			}
		})
	}
}

func TestReadyNeedsThatNoServerLacksZones(t *testing.T) {
	s := asked()
	s.serving = found{0: {}, 1: {difference: lacking("a.")}}
	ready := meta.FindStatusCondition(s.conditions(), v1alpha1.ConditionReady)
	if ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonZonesMissing {
		t.Errorf("got %+v", ready)
	}
	s.serving = found{0: {}, 1: {err: errors.New("no answer")}}
	if ready := meta.FindStatusCondition(s.conditions(), v1alpha1.ConditionReady); ready.Status != metav1.ConditionTrue {
		t.Errorf("what nobody knows: %+v", ready)
	}
}

func TestZonesOfAServerStayInTheStatusUntilTheyAreKnownAnew(t *testing.T) {
	s := asked()
	s.serving = found{0: {difference: lacking("a.")}, 1: {err: errors.New("no answer")}}
	old := &v1alpha1.ServerZones{Extra: 3}
	s.pool.Status.Servers = []v1alpha1.PoolServer{{Ordinal: 0, Zones: old}, {Ordinal: 1, Zones: old}}
	if got := s.serverZones(0); got == nil || *got != (v1alpha1.ServerZones{Missing: 1}) {
		t.Errorf("of one that is known: %+v", got)
	}
	if got := s.serverZones(1); got != nil {
		t.Errorf("of one that does not answer: %+v", got)
	}
	s.serving = found{}
	if got := s.serverZones(0); got != old {
		t.Errorf("of one that has not been asked yet: %+v", got)
	}
	s.pods["designate-backendbind9-pool1-0"].Status.Conditions = nil
	if got := s.serverZones(0); got != nil {
		t.Errorf("of one that is not ready, and cannot be asked: %+v", got)
	}
}

func TestWhatKeepsServersFromJoiningIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		found found
		want  string
	}{
		"one lacks zones":                     {found{1: {difference: lacking("a.example.", "b.example.")}}, "designate-backendbind9-pool1-1 lacks 2 zones (a.example., b.example.)."},
		"one says nothing":                    {found{1: {err: errors.New("no answer")}}, "designate-backendbind9-pool1-1 (no answer)."},
		"nothing is known":                    {found{}, ""},
		"one that has joined does not matter": {found{0: {err: errors.New("no answer")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked()
			s.entry.Servers[1].Joined = false
			s.serving = test.found
			if got := s.notYetJoined(); !strings.HasSuffix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}
