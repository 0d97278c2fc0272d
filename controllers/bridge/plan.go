package bridge

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// facts are what a plan is made from.
type facts struct {
	backend *v1alpha1.DesignateBackend
	// present says whether the multipool ConfigMap exists; config is nil and configErr says why when it cannot be used.
	present   bool
	config    *conversion.MultipoolConfig
	configErr error
	// ledger is the newest one in the cache; empty before there is one.
	ledger ledger.Ledger
	pools  []v1alpha1.DesignatePool
}

// wantedPool is a DesignatePool as its source describes it.
type wantedPool struct {
	name     string
	settings v1alpha1.PoolSettings
}

// plan is what follows from the facts.
type plan struct {
	// apply are the pools to make or keep as they are described, in the order of their source.
	apply []wantedPool
	// remove are bridge-made pools that their source does not describe any more.
	remove []*v1alpha1.DesignatePool
	// conditions are those of the DesignateBackend that the bridge owns.
	conditions []metav1.Condition
}

// ownedConditions are the conditions of the DesignateBackend that the bridge writes.
var ownedConditions = []string{v1alpha1.ConditionMultipoolConfigValid, v1alpha1.ConditionPoolsApplied}

// makePlan decides what the bridge does. Doubt about the source changes nothing: an invalid ConfigMap, or a mode that is
// not in force yet, leaves every pool as it is.
func makePlan(f facts) plan {
	var result plan
	result.conditions = validCondition(f)
	switch {
	case f.backend.DeletionTimestamp != nil:
		result.applied(metav1.ConditionFalse, v1alpha1.ReasonRemovalInProgress,
			"The DesignateBackend is being deleted, and all pools with it.")
	case f.configErr != nil:
		result.applied(metav1.ConditionFalse, v1alpha1.ReasonInvalidConfig,
			"The ConfigMap cannot be used; the last good pools stay in force.")
	case f.ledger.Mode == "":
		result.applied(metav1.ConditionFalse, v1alpha1.ReasonWaitingForMode, "The operator has not settled the mode yet.")
	case f.present && f.ledger.Mode != v1alpha1.MultiPool:
		result.waitForMode(v1alpha1.MultiPool)
	case f.present:
		result.reconcile(f, configured(f.config), true)
	default:
		result.withoutConfig(f)
	}
	return result
}

// withoutConfig has the default pool from the DesignateBackend. On the way back from several pools it keeps its last spec
// until those of the ConfigMap are gone.
func (p *plan) withoutConfig(f facts) {
	switch {
	case f.defaultExists() && f.others((*v1alpha1.DesignatePool).MadeByBridge):
		p.reconcile(f, nil, false)
	case f.defaultExists() && f.ledger.Mode == v1alpha1.MultiPool && !f.others(anyPool):
		p.waitForMode(v1alpha1.SinglePool)
	default:
		p.reconcile(f, []wantedPool{{name: v1alpha1.DefaultPoolName, settings: f.backend.Spec.DefaultPool}}, true)
	}
}

func (f *facts) defaultExists() bool {
	return slices.ContainsFunc(f.pools, func(p v1alpha1.DesignatePool) bool { return p.IsDefault() })
}

// others says whether a pool besides the default one is of a kind.
func (f *facts) others(kind func(*v1alpha1.DesignatePool) bool) bool {
	return slices.ContainsFunc(f.pools, func(p v1alpha1.DesignatePool) bool { return !p.IsDefault() && kind(&p) })
}

func anyPool(*v1alpha1.DesignatePool) bool { return true }

func configured(config *conversion.MultipoolConfig) []wantedPool {
	wanted := make([]wantedPool, 0, len(config.Pools))
	for i := range config.Pools {
		wanted = append(wanted, wantedPool{name: config.Pools[i].Name, settings: config.Pools[i].PoolSettings})
	}
	return wanted
}

func validCondition(f facts) []metav1.Condition {
	if !f.present {
		return nil
	}
	condition := metav1.Condition{
		Type:    v1alpha1.ConditionMultipoolConfigValid,
		Status:  metav1.ConditionTrue,
		Reason:  v1alpha1.ReasonValid,
		Message: "The ConfigMap " + v1alpha1.MultipoolConfigMapName + " can be used as it stands.",
	}
	if f.configErr != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, v1alpha1.ReasonInvalidConfig, f.configErr.Error()
	}
	return []metav1.Condition{condition}
}

func (p *plan) applied(status metav1.ConditionStatus, reason, message string) {
	p.conditions = append(p.conditions, metav1.Condition{
		Type: v1alpha1.ConditionPoolsApplied, Status: status, Reason: reason, Message: message,
	})
}

// waitForMode says that nothing is done before a mode has come into force, which has the default pool's servers move.
func (p *plan) waitForMode(wanted v1alpha1.Mode) {
	p.applied(metav1.ConditionFalse, v1alpha1.ReasonWaitingForMode, fmt.Sprintf("The mode is about to become %s.", wanted))
}

// reconcile sorts wanted pools into those that can be applied and those that have to wait, and finds the bridge-made
// pools that nothing wants any more. Without a source for it the default pool is kept as it is.
func (p *plan) reconcile(f facts, wanted []wantedPool, describesDefault bool) {
	kept := map[string]bool{}
	var notOwned, leaving []string
	for _, pool := range wanted {
		object := conversion.ObjectName(pool.name)
		kept[object] = true
		switch f.stage(object) {
		case foreign:
			notOwned = append(notOwned, object)
		case withdrawn:
			leaving = append(leaving, object)
		case ours:
			p.apply = append(p.apply, pool)
		}
	}
	for i := range f.pools {
		pool := &f.pools[i]
		described := kept[pool.Name] || (pool.IsDefault() && !describesDefault)
		if pool.MadeByBridge() && !described && !irrevocable(pool, f.ledger) {
			p.remove = append(p.remove, pool)
		}
	}
	p.appliedExcept(notOwned, leaving)
}

// stage is where the DesignatePool of an object name stands with the bridge.
type stage int

const (
	// ours: it is the bridge's to make or to change. So is one that is being deleted: it works on until it goes.
	ours stage = iota
	// withdrawn: it is past the point of no return, and what is written to it does nothing any more.
	withdrawn
	// foreign: somebody else made it.
	foreign
)

func (f *facts) stage(object string) stage {
	at := slices.IndexFunc(f.pools, func(p v1alpha1.DesignatePool) bool { return p.Name == object })
	switch {
	case at < 0:
		return ours
	case !f.pools[at].MadeByBridge():
		return foreign
	case isWithdrawn(&f.pools[at], f.ledger):
		return withdrawn
	default:
		return ours
	}
}

// appliedExcept says which pools are not as their source has them, and why.
func (p *plan) appliedExcept(notOwned, leaving []string) {
	switch {
	case len(notOwned) > 0:
		p.applied(metav1.ConditionFalse, v1alpha1.ReasonPoolNotOwned, fmt.Sprintf(
			"These DesignatePools exist and were not made from the ConfigMap; they are left as they are: %s. "+
				"Delete them, or take their pools out of the ConfigMap.", strings.Join(notOwned, ", ")))
	case len(leaving) > 0:
		p.applied(metav1.ConditionFalse, v1alpha1.ReasonPoolBeingRemoved, fmt.Sprintf(
			"These DesignatePools are past the point of no return of their removal and are made anew once they are gone: %s.",
			strings.Join(leaving, ", ")))
	default:
		p.applied(metav1.ConditionTrue, v1alpha1.ReasonApplied, "Every DesignatePool is as its source says.")
	}
}

// irrevocable says that the removal of a pool cannot be taken back.
func irrevocable(pool *v1alpha1.DesignatePool, l ledger.Ledger) bool {
	return pool.DeletionTimestamp != nil || isWithdrawn(pool, l)
}

// isWithdrawn says that a pool is past the point of no return.
func isWithdrawn(pool *v1alpha1.DesignatePool, l ledger.Ledger) bool {
	entry := l.Pool(pool.UID)
	return entry != nil && entry.Removing()
}
