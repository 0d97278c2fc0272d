package backend

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// hasAccess says that Designate can be asked.
func (s *scope) hasAccess() bool { return s.backend != nil && s.backend.Spec.Designate.Access != nil }

// designateConditions are those about Designate; none without access to it.
func (s *scope) designateConditions() []metav1.Condition {
	if !s.hasAccess() {
		return nil
	}
	if !s.zones.Attempted() {
		return s.awaitedConditions()
	}
	reachable := s.zones.Reachable(s.now)
	conditions := []metav1.Condition{reachable}
	listing := s.zones.Fresh(s.now)
	for _, judge := range []func([]designate.Pool) metav1.Condition{
		s.defaultPoolCondition, s.poolNamesCondition, s.attributesCondition,
	} {
		if listing != nil {
			conditions = append(conditions, judge(listing.Known))
			continue
		}
		condition := judge(nil)
		condition.Status, condition.Reason = metav1.ConditionUnknown, reachable.Reason
		condition.Message = "Nobody knows: " + reachable.Message
		conditions = append(conditions, condition)
	}
	return conditions
}

// designateConditionTypes are the types of those conditions; the first ones, neededOfDesignate, are those that Ready needs.
// That the scheduler ignores attributes is a warning.
var (
	designateConditionTypes = append(slices.Clone(neededOfDesignate), v1alpha1.ConditionAttributesHonoured)
	neededOfDesignate       = []string{
		v1alpha1.ConditionDesignateReachable, v1alpha1.ConditionDefaultPoolMatches, v1alpha1.ConditionPoolNamesDistinct,
	}
)

// awaitedConditions are those before the first attempt: as the operator that ran before left them, so that a restart
// makes nothing flap, else Unknown.
func (s *scope) awaitedConditions() []metav1.Condition {
	awaited := s.zones.Reachable(s.now)
	conditions := make([]metav1.Condition, 0, len(designateConditionTypes))
	for _, conditionType := range designateConditionTypes {
		condition := awaited
		condition.Type = conditionType
		if before := meta.FindStatusCondition(s.backend.Status.Conditions, conditionType); before != nil {
			condition = *before
		}
		conditions = append(conditions, condition)
	}
	return conditions
}

// defaultPoolCondition holds the id that the spec says against the pool default that Designate has: with the wrong one,
// applying pools.yaml would rename a pool, or make a second default one.
func (s *scope) defaultPoolCondition(known []designate.Pool) metav1.Condition {
	id := s.backend.Spec.Designate.DefaultPoolID
	condition := metav1.Condition{Type: v1alpha1.ConditionDefaultPoolMatches, Status: metav1.ConditionFalse}
	var named, identified *designate.Pool
	for i := range known {
		if known[i].Name == v1alpha1.DefaultPoolName {
			named = &known[i]
		}
		if known[i].ID == id {
			identified = &known[i]
		}
	}
	switch {
	case identified != nil && identified.Name == v1alpha1.DefaultPoolName:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonDefaultPoolMatches
		condition.Message = "Designate's pool default has the id that spec.designate.defaultPoolID says."
	case identified != nil:
		condition.Reason = v1alpha1.ReasonDefaultPoolRenamed
		condition.Message = fmt.Sprintf("The pool with the id of spec.designate.defaultPoolID, %s, is named %q in Designate.",
			id, identified.Name) + hint(named)
	default:
		condition.Reason = v1alpha1.ReasonDefaultPoolMissing
		condition.Message = fmt.Sprintf("Designate has no pool with the id of spec.designate.defaultPoolID, %s.", id) + hint(named)
	}
	return condition
}

// hint says which id would do.
func hint(named *designate.Pool) string {
	if named == nil {
		return " It has none named default either: look for default_pool_id in the configuration of designate-central."
	}
	return fmt.Sprintf(" Its pool default has the id %s: if that is default_pool_id in the configuration of designate-central, "+
		"set it in spec.designate.defaultPoolID.", named.ID)
}

// poolNamesCondition looks for pools in Designate that stand in the way of one of ours: under the same name with another
// id, or under a name that the database takes for the same.
func (s *scope) poolNamesCondition(known []designate.Pool) metav1.Condition {
	var conflicts []string
	for i := range s.stored.Pools {
		conflicts = append(conflicts, conflictsOf(&s.stored.Pools[i], known)...)
	}
	if len(conflicts) == 0 {
		return metav1.Condition{Type: v1alpha1.ConditionPoolNamesDistinct, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonNamesDistinct, Message: "Every pool name stands for one pool in Designate."}
	}
	slices.Sort(conflicts)
	return metav1.Condition{Type: v1alpha1.ConditionPoolNamesDistinct, Status: metav1.ConditionFalse,
		Reason: v1alpha1.ReasonNameTakenInDesignate,
		Message: "Designate's database takes these names for one, so pools.yaml cannot be applied: " + strings.Join(conflicts, "; ") +
			". Rename or delete the pool that is in the way, or give ours another name."}
}

// conflictsOf says which pools of Designate are in the way of one of ours.
func conflictsOf(entry *ledger.Pool, known []designate.Pool) []string {
	if entry.Name == v1alpha1.DefaultPoolName {
		return nil // What is wrong with that one, DefaultPoolMatches says.
	}
	var conflicts []string
	folded := conversion.FoldName(entry.Name)
	for i := range known {
		if known[i].ID != entry.ID && conversion.FoldName(known[i].Name) == folded {
			conflicts = append(conflicts,
				fmt.Sprintf("%q (%s) is in the way of %q (%s)", known[i].Name, known[i].ID, entry.Name, entry.ID))
		}
	}
	return conflicts
}

// attributesCondition looks for zones that the scheduler has put elsewhere than where their attributes ask for.
func (s *scope) attributesCondition(known []designate.Pool) metav1.Condition {
	names := map[string]string{}
	for _, pool := range known {
		names[pool.ID] = pool.Name
	}
	var astray []string
	if listing := s.zones.Fresh(s.now); listing != nil {
		for id, zones := range listing.Pools {
			if zones.Astray > 0 {
				astray = append(astray, fmt.Sprintf("%d in pool %q, such as %s, whose attributes are those of pool %q",
					zones.Astray, names[id], zones.AstrayName, names[zones.AstrayPool]))
			}
		}
	}
	if len(astray) == 0 {
		return metav1.Condition{Type: v1alpha1.ConditionAttributesHonoured, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonAttributesHonoured, Message: "No zone is known to be elsewhere than where its attributes ask for."}
	}
	slices.Sort(astray)
	return metav1.Condition{Type: v1alpha1.ConditionAttributesHonoured, Status: metav1.ConditionFalse,
		Reason: v1alpha1.ReasonAttributesIgnored,
		Message: "Zones are elsewhere than where their attributes ask for: " + strings.Join(astray, "; ") +
			". Does scheduler_filters in Designate's [service:central] hold `attribute`? Zones that exist stay where they are."}
}

// zonesStatus is what is known of the zones of all pools.
func (s *scope) zonesStatus() *v1alpha1.ZoneListing {
	if !s.hasAccess() {
		return nil
	}
	status, lookAgain := s.zones.BackendStatus(s.backend.Status.Zones, s.now)
	s.lookAgainAfter(lookAgain)
	return status
}
