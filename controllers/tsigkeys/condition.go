package tsigkeys

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// state is how the key of a pool stands.
type state struct {
	status          metav1.ConditionStatus
	reason, message string
}

// Condition is the condition TSIGKeyReady of a pool; known is false before anybody has looked.
func (v View) Condition(pool types.UID) (condition metav1.Condition, known bool) {
	s, known := v.states[pool]
	return metav1.Condition{Type: v1alpha1.ConditionTSIGKeyReady, Status: s.status, Reason: s.reason, Message: s.message}, known
}

// state is how the key of a pool stands; not ok before Designate has been asked, and of a pool that is being removed.
func (m *memory) state(pool *wanted) (s state, ok bool) {
	uid := pool.entry.UID
	no := func(reason, message string) (state, bool) { return state{metav1.ConditionFalse, reason, message}, true }
	unknown := func(tried string, err error) (state, bool) {
		return state{metav1.ConditionUnknown, zones.FailureReason(err), tried + ": " + err.Error()}, true
	}
	switch {
	case pool.entry.Removing():
		return state{}, false
	case m.listing.Err != nil:
		return unknown("The TSIG keys cannot be listed", m.listing.Err)
	case !m.asked[uid]:
		return state{}, false
	case pool.key == nil:
		return no(v1alpha1.ReasonKeyNotRegistered,
			fmt.Sprintf("The Secret %s holds no key of the pool yet.", builders.TSIGSecretName(pool.entry.Index)))
	case m.foreign[uid] != "":
		return no(v1alpha1.ReasonForeignKey, fmt.Sprintf("Designate has the TSIG key %q for the pool, which is not the servers', and takes "+
			"no new zones where there are two: delete it (DELETE /v2/tsigkeys/ID), and the servers' own is registered.", m.foreign[uid]))
	}
	todo, failed := m.action(pool), m.setbacks[uid]
	switch _, exists := m.registered[uid]; {
	case todo != nothing && failed.Err != nil:
		return unknown("The TSIG key cannot be registered", failed.Err)
	case todo != nothing:
		return no(v1alpha1.ReasonKeyNotRegistered, "Designate does not have the key that the servers have; it is about to be registered.")
	case exists:
		return state{metav1.ConditionTrue, v1alpha1.ReasonKeyRegistered, "Designate has the key that the servers have."}, true
	default:
		return no(v1alpha1.ReasonKeyAwaitsPool, "The key opens the pool for zones, and waits for "+pool.awaits+".")
	}
}
