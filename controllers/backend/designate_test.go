package backend

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

const defaultID = "794ccc2c-d751-44fe-b57f-8894c9f5c842"

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// asking is a scope in which all is well and Designate has said at noon which pools it has.
func asking(known ...designate.Pool) *scope {
	s := healthy()
	s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://designate"}
	s.now = noon.Add(time.Minute)
	s.zones = zones.View{FreshFor: 10 * time.Minute, Listing: &zones.Listing{
		Began: noon, Ended: noon.Add(time.Second), Total: 7, Pools: map[string]*zones.PoolZones{}, Known: known,
	}}
	return s
}

func inDesignate(id, name string) designate.Pool { return designate.Pool{ID: id, Name: name} }

func TestDesignateConditions(t *testing.T) {
	const yes, no, unknown = "True ", "False ", "Unknown "
	type want struct{ Reachable, DefaultPool, Names, Attributes, Ready string }
	well := want{
		yes + v1alpha1.ReasonReachable, yes + v1alpha1.ReasonDefaultPoolMatches, yes + v1alpha1.ReasonNamesDistinct,
		yes + v1alpha1.ReasonAttributesHonoured, yes + v1alpha1.ReasonReady,
	}
	with := func(change func(*want)) want { w := well; change(&w); return w }
	theDefault := inDesignate(defaultID, "default")
	failure := &designate.Error{Kind: designate.Unreachable, Operation: "list zones"}
	for name, test := range map[string]struct {
		scope *scope
		want  want
		// says is part of the message of Ready, or, where that is True, of one of the others.
		says string
	}{
		"no access": {healthy(), want{Ready: well.Ready}, ""},
		"all is well": {
			asking(theDefault, inDesignate("id-other", "other")), well, "",
		},
		"nobody has asked yet": {
			func() *scope { s := asking(); s.zones = zones.View{}; return s }(),
			want{
				unknown + v1alpha1.ReasonWaitingForListing, unknown + v1alpha1.ReasonWaitingForListing, unknown + v1alpha1.ReasonWaitingForListing,
				unknown + v1alpha1.ReasonWaitingForListing, unknown + v1alpha1.ReasonWaitingForListing,
			}, "has not been asked",
		},
		"nobody has asked since a restart": {
			func() *scope {
				s := asking()
				s.zones = zones.View{}
				for _, conditionType := range designateConditionTypes {
					s.backend.Status.Conditions = append(s.backend.Status.Conditions,
						metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: "Before", Message: "as it was"})
				}
				return s
			}(),
			want{yes + "Before", yes + "Before", yes + "Before", yes + "Before", well.Ready}, "",
		},
		"Designate cannot be asked, and could be a minute ago": {
			func() *scope { s := asking(theDefault); s.zones.Failure = failure; return s }(),
			with(func(w *want) {
				w.Reachable, w.Ready = no+v1alpha1.ReasonDesignateUnreachable, no+v1alpha1.ReasonDesignateUnreachable
			}), "list zones",
		},
		"Designate could never be asked": {
			func() *scope { s := asking(); s.zones = zones.View{Failure: failure, FreshFor: time.Minute}; return s }(),
			want{
				no + v1alpha1.ReasonDesignateUnreachable, unknown + v1alpha1.ReasonDesignateUnreachable, unknown + v1alpha1.ReasonDesignateUnreachable,
				unknown + v1alpha1.ReasonDesignateUnreachable, no + v1alpha1.ReasonDesignateUnreachable,
			}, "list zones",
		},
		"the last listing is too old": {
			func() *scope { s := asking(theDefault); s.now = noon.Add(time.Hour); return s }(),
			want{
				unknown + v1alpha1.ReasonZonesUnknown, unknown + v1alpha1.ReasonZonesUnknown, unknown + v1alpha1.ReasonZonesUnknown,
				unknown + v1alpha1.ReasonZonesUnknown, unknown + v1alpha1.ReasonZonesUnknown,
			}, "No listing",
		},
		"the default pool has another id": {
			asking(inDesignate("id-default", "default")),
			with(func(w *want) {
				w.DefaultPool, w.Ready = no+v1alpha1.ReasonDefaultPoolMissing, no+v1alpha1.ReasonDefaultPoolMissing
			}), "default has the id id-default",
		},
		"the id is that of another pool": {
			asking(inDesignate(defaultID, "gold"), inDesignate("id-default", "default")),
			with(func(w *want) {
				w.DefaultPool, w.Ready = no+v1alpha1.ReasonDefaultPoolRenamed, no+v1alpha1.ReasonDefaultPoolRenamed
			}), `named "gold"`,
		},
		"a name that differs in case alone is that of another pool": {
			asking(inDesignate(defaultID, "Default")),
			with(func(w *want) {
				w.DefaultPool, w.Ready = no+v1alpha1.ReasonDefaultPoolRenamed, no+v1alpha1.ReasonDefaultPoolRenamed
			}), "none named default",
		},
		"a pool's name is taken by one that the database takes for the same": {
			func() *scope {
				s := asking(theDefault, inDesignate("id-edge", "Edgé "))
				s.stored.Pools = append(s.stored.Pools, entry("edge", 1, 1, 5))
				return s
			}(),
			with(func(w *want) {
				w.Names, w.Ready = no+v1alpha1.ReasonNameTakenInDesignate, no+v1alpha1.ReasonNameTakenInDesignate
			}), `"Edgé " (id-edge) is in the way of "edge"`,
		},
		"a pool of the same name has another id than pools.yaml says": {
			func() *scope {
				s := asking(theDefault, inDesignate("id-edge", "edge"))
				s.stored.Pools = append(s.stored.Pools, entry("edge", 1, 1, 5))
				return s
			}(),
			with(func(w *want) {
				w.Names, w.Ready = no+v1alpha1.ReasonNameTakenInDesignate, no+v1alpha1.ReasonNameTakenInDesignate
			}), "id-edge",
		},
		"our own pool is in nobody's way": {
			func() *scope {
				own := entry("edge", 1, 1, 5)
				s := asking(theDefault, inDesignate(own.ID, "edge"))
				s.stored.Pools = append(s.stored.Pools, own)
				return s
			}(), well, "",
		},
		"attributes are ignored, which is a warning": {
			func() *scope {
				s := asking(theDefault, inDesignate("id-gold", "gold"))
				s.zones.Listing.Pools[defaultID] = &zones.PoolZones{Total: 3, Astray: 2, AstrayName: "a.example.", AstrayPool: "id-gold"}
				return s
			}(),
			with(func(w *want) { w.Attributes = no + v1alpha1.ReasonAttributesIgnored }),
			`2 in pool "default", such as a.example., whose attributes are those of pool "gold"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := test.scope.conditions()
			is := func(conditionType string) string {
				c := meta.FindStatusCondition(conditions, conditionType)
				if c == nil {
					return ""
				}
				return string(c.Status) + " " + c.Reason
			}
			got := want{
				is(v1alpha1.ConditionDesignateReachable), is(v1alpha1.ConditionDefaultPoolMatches), is(v1alpha1.ConditionPoolNamesDistinct),
				is(v1alpha1.ConditionAttributesHonoured), is(v1alpha1.ConditionReady),
			}
			if got != test.want {
				t.Errorf("conditions\n got %+v\nwant %+v", got, test.want)
			}
			var messages []string
			for _, c := range conditions {
				messages = append(messages, c.Message)
			}
			if all := strings.Join(messages, "\n"); !strings.Contains(all, test.says) {
				t.Errorf("no message says %q:\n%s", test.says, all)
			}
		})
	}
}

func TestPoolID(t *testing.T) {
	derived := conversion.PoolID(namespace, "edge")
	for name, test := range map[string]struct {
		scope *scope
		pool  string
		id    string
		known bool
	}{
		"without access it follows from the name":                {healthy(), "edge", derived, true},
		"Designate has no such pool":                             {asking(), "edge", derived, true},
		"Designate has a pool of exactly that name":              {asking(inDesignate("id-edge", "edge")), "edge", "id-edge", true},
		"one of nearly that name is another":                     {asking(inDesignate("id-edge", "Edge")), "edge", derived, true},
		"the default pool has the id of the spec":                {asking(inDesignate("id-default", "default")), "default", defaultID, true},
		"Designate has not been asked":                           {func() *scope { s := asking(); s.zones = zones.View{}; return s }(), "edge", derived, false},
		"the default pool is known before Designate is asked":    {func() *scope { s := asking(); s.zones = zones.View{}; return s }(), "default", defaultID, true},
		"what Designate said long ago may not be so any more":    {func() *scope { s := asking(); s.now = noon.Add(time.Hour); return s }(), "edge", derived, false},
		"a failure since then takes nothing back that was fresh": {func() *scope { s := asking(); s.zones.Failure = errors.New("no"); return s }(), "edge", derived, true},
	} {
		t.Run(name, func(t *testing.T) {
			id, known := test.scope.poolID("uid-edge", test.pool)
			if id != test.id || known != test.known {
				t.Errorf("got %s, known %v, want %s, %v", id, known, test.id, test.known)
			}
		})
	}
}
