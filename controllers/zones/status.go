package zones

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

// refreshAfter is how old the time in a status may become while the numbers stay the same: a write at every listing would
// cost the API server more than it tells anybody.
const refreshAfter = 5 * time.Minute

// awaited is how soon to look again at a status from before this process started, while the first attempt goes on.
const awaited = time.Minute

// PoolStatus is what a status says of the zones of one pool, given what it says now: nil while nobody knows. lookAgain is
// when that changes without news of the zones; never when 0.
func (v View) PoolStatus(poolID string, current *v1alpha1.PoolZones, now time.Time) (status *v1alpha1.PoolZones, lookAgain time.Duration) {
	listing := v.Fresh(now)
	if listing == nil {
		if current == nil {
			return nil, 0
		}
		if lookAgain := v.keepFor(current.ObservedAt, now); lookAgain > 0 {
			return current, lookAgain
		}
		return nil, 0
	}
	zones := listing.In(poolID)
	status = &v1alpha1.PoolZones{Total: bounded(zones.Total), Names: zones.Names, ObservedAt: metav1.NewTime(listing.Began)}
	for state, count := range zones.States {
		status.States = append(status.States, v1alpha1.ZoneState{Status: state.Status, Action: state.Action, Count: bounded(count)})
	}
	slices.SortFunc(status.States, func(a, b v1alpha1.ZoneState) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Action, b.Action))
	})
	if current != nil && samePoolZones(current, status) && !refresh(current.ObservedAt, listing.Began) {
		return current, v.keepFor(metav1.NewTime(listing.Began), now)
	}
	return status, v.keepFor(metav1.NewTime(listing.Began), now)
}

// BackendStatus is the same for the zones of all pools.
func (v View) BackendStatus(current *v1alpha1.ZoneListing, now time.Time) (status *v1alpha1.ZoneListing, lookAgain time.Duration) {
	listing := v.Fresh(now)
	if listing == nil {
		if current == nil {
			return nil, 0
		}
		if lookAgain := v.keepFor(current.Began, now); lookAgain > 0 {
			return current, lookAgain
		}
		return nil, 0
	}
	lookAgain = v.keepFor(metav1.NewTime(listing.Began), now)
	if current != nil && current.Total == bounded(listing.Total) && !refresh(current.Began, listing.Began) {
		return current, lookAgain
	}
	return &v1alpha1.ZoneListing{
		Total: bounded(listing.Total), Began: metav1.NewTime(listing.Began), Ended: metav1.NewTime(listing.Ended),
	}, lookAgain
}

// Few is how a message names zones of which there are so many in all.
func Few(names []string, total int) string {
	text := strings.Join(names, ", ")
	if total > len(names) {
		text += ", ..."
	}
	return text
}

// Attempted says that this process has tried to list the zones, with whatever success.
func (v View) Attempted() bool { return v.Listing != nil || v.Failure != nil }

// keepFor is how long what was seen at a time still counts; 0 when it does not any more.
func (v View) keepFor(observed metav1.Time, now time.Time) time.Duration {
	if !v.Attempted() {
		return awaited
	}
	// A status has whole seconds.
	return max(0, v.FreshFor-now.Sub(observed.Time).Truncate(time.Second)+time.Second)
}

// StatusCounts is how long a status counts for somebody who knows nothing else, given the interval at which zones are listed.
func StatusCounts(pollInterval *metav1.Duration) time.Duration {
	var poll time.Duration
	if pollInterval != nil {
		poll = pollInterval.Duration
	}
	return history{}.fresh(poll) + refreshAfter
}

// refresh says that a status is to tell a newer time. One that lies ahead was written by a process with another clock.
func refresh(told metav1.Time, observed time.Time) bool {
	age := observed.Sub(told.Time)
	return age >= refreshAfter || age <= -refreshAfter
}

func samePoolZones(a, b *v1alpha1.PoolZones) bool {
	return a.Total == b.Total && slices.Equal(a.States, b.States) && slices.Equal(a.Names, b.Names)
}

// bounded is a count as the API has it.
func bounded(count int) int32 {
	return int32(min(count, math.MaxInt32)) //nolint:gosec // That it fits is what min sees to.
}

// Reachable is the condition DesignateReachable.
func (v View) Reachable(now time.Time) metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha1.ConditionDesignateReachable, Status: metav1.ConditionFalse,
	}
	switch {
	case !v.Attempted():
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha1.ReasonWaitingForListing
		condition.Message = "Designate has not been asked yet since this operator started."
		return condition
	case v.Failure == nil && v.Fresh(now) == nil:
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha1.ReasonZonesUnknown
		condition.Message = fmt.Sprintf("No listing of the zones has ended since %s.", v.Listing.Ended.UTC().Format(time.RFC3339))
		return condition
	case v.Failure == nil:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonReachable
		condition.Message = "Designate lists the zones of all projects."
		return condition
	}
	condition.Reason = FailureReason(v.Failure)
	condition.Message = fmt.Sprintf("The zones cannot be listed since %s: %s",
		v.FailingSince.UTC().Format(time.RFC3339), v.Failure)
	return condition
}

// FailureReason is the reason of a condition that nobody knows better because Designate could not be asked.
func FailureReason(err error) string {
	switch designate.KindOf(err) {
	case designate.Unauthorised:
		return v1alpha1.ReasonCredentialsRefused
	case designate.Unusable:
		return v1alpha1.ReasonCredentialsUnusable
	case designate.Overloaded:
		return v1alpha1.ReasonDesignateOverloaded
	case designate.Malformed:
		return v1alpha1.ReasonDesignateAnswerUnusable
	case designate.Refused, designate.AlreadyExists, designate.PoolNotEmpty, designate.NotFound:
		return v1alpha1.ReasonDesignateRefuses
	default:
		return v1alpha1.ReasonDesignateUnreachable
	}
}
