package tsigkeys

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

const registered = "True " + v1alpha1.ReasonKeyRegistered

func TestTheKeyOfAPoolIsRegisteredAsItsServersHaveIt(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.expectCalls("list", "create "+goldKey)
	w.expect("gold", registered)
	w.expect("default", "")
	want := builders.TSIGKeyIn(w.secrets["gold"].Data)
	got := w.designate.key(goldKey)
	if got == nil || got.Secret != want.Secret || got.Algorithm != want.Algorithm || got.PoolID != "id-of-gold" {
		t.Error("Designate has another key than the servers")
	}
}

func TestWhatComesBeforeAKeyIsRegistered(t *testing.T) {
	for name, without := range map[string]func(*world){
		"Designate's answer which pools it has": func(w *world) { w.listing = nil },
		"a young answer":                        func(w *world) { w.listing.Began = w.clock.Now().Add(-2 * time.Hour) },
		"the pool in Designate":                 func(w *world) { w.listing.Known = nil },
		"a joined server":                       func(w *world) { w.gold().Servers[0].Joined = false },
		"workers that know it": func(w *world) {
			w.backend.Spec.Designate.Apply = v1alpha1.ApplyJob
			w.gold().Applied.Workers = "older"
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			without(w)
			w.reconcile()
			w.expectCalls("list")
			w.expect("gold", "False "+v1alpha1.ReasonKeyAwaitsPool)
		})
	}
}

func TestAKeyThatWasThereIsPutBackWhateverElseIsAwaited(t *testing.T) {
	for name, test := range map[string]func(*world){
		"because it was registered before": func(*world) {},
		"because the pool has zones": func(w *world) {
			w.registrar.memories[namespace].seen = map[types.UID]bool{}
			w.listing = &zones.Listing{Began: w.clock.Now(), Pools: map[string]*zones.PoolZones{"id-of-gold": {Total: 1}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reconcile()
			w.listing.Known, w.gold().Servers[0].Joined = nil, false
			test(w)
			w.designate.drop(goldKey)
			w.later(verifiedFor)
			w.expectCalls("list", "create "+goldKey)
			w.expect("gold", registered)
		})
	}
}

func TestAnotherKeyOfTheNameIsReplaced(t *testing.T) {
	for name, change := range map[string]func(*designate.TSIGKey){
		"another secret":    func(k *designate.TSIGKey) { k.Secret = "b3RoZXI=" },
		"another algorithm": func(k *designate.TSIGKey) { k.Algorithm = "hmac-md5" },
		"another pool":      func(k *designate.TSIGKey) { k.PoolID = "id-of-another" },
		"no pool at all":    func(k *designate.TSIGKey) { k.PoolID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reconcile()
			change(w.designate.key(goldKey))
			w.later(verifiedFor)
			w.expectCalls("list", "delete id-1", "create "+goldKey)
			w.expect("gold", registered)
		})
	}
}

// Designate takes no new zones in a pool with two keys.
func TestNoSecondKeyIsRegisteredForAPool(t *testing.T) {
	w := newWorld(t)
	w.designate.keys = []designate.TSIGKey{{ID: "id-of-theirs", Name: "theirs", PoolID: "id-of-gold"}}
	w.reconcile()
	w.expectCalls("list")
	w.expect("gold", "False "+v1alpha1.ReasonForeignKey)
	w.designate.drop("theirs")
	w.later(verifiedFor)
	w.expectCalls("list", "create "+goldKey)
	w.expect("gold", registered)
}

func TestANewSecretIsRegisteredAtOnce(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	key, err := builders.NewKey(builders.TSIGKeyName("uid-gold"))
	if err != nil {
		t.Fatal(err)
	}
	w.secrets["gold"].Data["secret"] = []byte(key.Secret)
	w.later(time.Second)
	w.expectCalls("list", "delete id-1", "create "+goldKey)
}

func TestDesignateIsNotAskedWhileNothingIsToBeDone(t *testing.T) {
	w := newWorld(t)
	if next := w.reconcile(); next != verifiedFor {
		t.Errorf("the next look is after %s, want %s", next, verifiedFor)
	}
	w.later(verifiedFor - time.Second)
	w.expectCalls()
	w.later(time.Second)
	w.expectCalls("list")
}

func TestWithoutSignedPoolsDesignateIsNeverAsked(t *testing.T) {
	w := newWorld(t)
	w.ledger.Pools = w.ledger.Pools[:1]
	if next := w.reconcile(); next != 0 {
		t.Errorf("there is another look after %s", next)
	}
	w.expectCalls()
}

func TestWithoutAccessNothingIsDoneOrKnown(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.backend.Spec.Designate.Access = nil
	w.later(verifiedFor)
	w.expectCalls()
	w.expect("gold", "")
}

func TestAnotherDesignateIsAskedAnew(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.designate = &stateful{fails: map[string]error{}}
	w.backend.Spec.Designate.Access.Endpoint = "http://other"
	w.reconcile()
	w.expectCalls("list", "create "+goldKey)
}

func TestAPoolWithoutAKeyOfItsOwnWaits(t *testing.T) {
	for name, change := range map[string]func(*world){
		"no Secret":           func(w *world) { delete(w.secrets, "gold") },
		"a garbled one":       func(w *world) { w.secrets["gold"].Data["secret"] = []byte("garbled") },
		"another pool's":      func(w *world) { w.secrets["gold"].Labels[v1alpha1.LabelPoolUID] = "uid-other" },
		"one with other name": func(w *world) { w.secrets["gold"].Data["name"] = []byte("other") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			w.reconcile()
			w.expectCalls("list")
			w.expect("gold", "False "+v1alpha1.ReasonKeyNotRegistered)
			if key, known := w.registrar.View(namespace).Registered("uid-gold"); key != nil || !known {
				t.Errorf("that Designate has no key is known: %v", known)
			}
		})
	}
}

func TestTheKeyOfARemovedPoolGoesLastAndNoOther(t *testing.T) {
	w := newWorld(t)
	w.designate.keys = []designate.TSIGKey{{ID: "theirs", Name: "designate-pool-of-another-cluster"}, {ID: "people's", Name: "key"}}
	w.reconcile()
	w.gold().Removal = ledger.Withdrawing
	w.later(verifiedFor)
	w.expectCalls("list")
	w.gold().Removal = ledger.Withdrawn
	w.later(time.Second)
	w.expectCalls("list", "delete id-1")
	w.expect("gold", "")
	w.later(verifiedFor)
	w.expectCalls("list")
	if len(w.designate.keys) != 2 {
		t.Errorf("%d keys are left, want those of others", len(w.designate.keys))
	}
}

func TestAKeyThatFailsKeepsNoOtherWaiting(t *testing.T) {
	w := newWorld(t)
	w.pool("iron")
	w.designate.fails["create "+goldKey] = &designate.Error{Kind: designate.Refused, Operation: "create TSIG key"}
	w.reconcile()
	w.expect("gold", "Unknown "+v1alpha1.ReasonDesignateRefuses)
	w.expect("iron", registered)
	// It is tried again after a while only, and meanwhile a new pool gets its key.
	w.pool("lead")
	w.later(10 * time.Second)
	w.expectCalls("list", "create designate-pool-uid-lead")
	w.expect("lead", registered)
	delete(w.designate.fails, "create "+goldKey)
	w.later(time.Minute)
	w.expect("gold", registered)
}

func TestAListingThatFailsIsToldAndTriedAgain(t *testing.T) {
	for where, failure := range map[string]designate.Kind{"connect": designate.Unauthorised, "list": designate.Unreachable} {
		t.Run(where, func(t *testing.T) {
			w := newWorld(t)
			w.reconcile()
			err := &designate.Error{Kind: failure, Operation: "list TSIG keys"}
			w.designate.fails[where] = err
			w.later(verifiedFor)
			w.expect("gold", "Unknown "+zones.FailureReason(err))
			if key, _ := w.registrar.View(namespace).Registered("uid-gold"); key == nil {
				t.Error("what Designate had is forgotten because it does not answer")
			}
			delete(w.designate.fails, where)
			w.later(time.Second)
			w.expectCalls()
			w.later(time.Minute)
			w.expect("gold", registered)
		})
	}
}

func TestAKeyThatSomebodyMakesMeanwhileIsLookedAtAgainSoon(t *testing.T) {
	w := newWorld(t)
	w.designate.fails["create "+goldKey] = &designate.Error{Kind: designate.AlreadyExists, Operation: "create TSIG key"}
	w.reconcile()
	key := builders.TSIGKeyIn(w.secrets["gold"].Data)
	w.designate.keys = []designate.TSIGKey{{ID: "it", Name: key.Name, Algorithm: key.Algorithm, Secret: key.Secret, PoolID: "id-of-gold"}}
	w.later(6 * time.Second)
	w.expectCalls("list")
	w.expect("gold", registered)
}

// R34.
func TestNoMessageTellsASecret(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	c, _ := w.registrar.View(namespace).Condition("uid-gold")
	if strings.Contains(c.Message, string(w.secrets["gold"].Data["secret"])) {
		t.Error("the condition tells the secret")
	}
}
