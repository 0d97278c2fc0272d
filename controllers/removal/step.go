package removal

import (
	"time"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// DefaultRPCTimeout is how long Designate's services wait for each other unless it is configured (`rpc_response_timeout`).
const DefaultRPCTimeout = time.Minute

// Next takes the removal of a pool one step further, if it may go on. The entry is a later one of the same pool than that in the
// facts; what it becomes is in the ledger before anything follows from it.
func Next(entry *ledger.Pool, verdict Verdict, facts Facts) {
	switch {
	case entry.Leaving() || facts.Entry == nil:
		// There is no way back, or nobody has judged what is there.
	case verdict.Forced:
		entry.Removal = ledger.Withdrawing
	case entry.Removal == "" && verdict.Allowed:
		facts.begin(entry)
	case entry.Removal == ledger.Deleting && facts.Answer.Gone:
		entry.Removal, entry.Deletion.Ended = ledger.Deleted, ledger.At(facts.Now)
	case entry.Removal == ledger.Deleting && facts.Answer.NotEmpty:
		facts.takeBack(entry)
	case entry.Removal == ledger.Deleted:
		facts.confirm(entry)
	}
}

// begin passes the point of no return. The default pool stays in Designate, whose configuration names it.
func (f *Facts) begin(entry *ledger.Pool) {
	if entry.Deletion == nil {
		entry.Deletion = &ledger.Deletion{}
	}
	entry.Deletion.Attempt++
	entry.Deletion.Began, entry.Deletion.Ended = ledger.At(f.Now), nil
	entry.Removal = ledger.Deleting
	if entry.Name == v1alpha1.DefaultPoolName {
		entry.Removal, entry.Deletion.Ended = ledger.Deleted, ledger.At(f.Now)
	}
}

// confirm goes by the second listing.
func (f *Facts) confirm(entry *ledger.Pool) {
	listing := f.confirming(entry)
	switch {
	case listing == nil:
	case listing.In(entry.ID).Total > 0:
		f.takeBack(entry)
	case known(listing, entry) && entry.Name != v1alpha1.DefaultPoolName:
		// Somebody has made it again, such as people who applied an older pools.yaml.
		f.begin(entry)
	default:
		entry.Removal = ledger.Withdrawing
	}
}

// takeBack is the way back: there are zones after all. What Designate knew of the pool it may not know any more.
func (f *Facts) takeBack(entry *ledger.Pool) {
	if entry.Removal == ledger.Deleted && entry.Name != v1alpha1.DefaultPoolName && entry.Applied != nil {
		entry.Applied = &ledger.Applied{}
	}
	entry.Removal = ""
	entry.Deletion.Refused, entry.Deletion.Ended = ledger.At(f.Now), nil
	entry.Deletion.Refusals++
}

// confirming is the second listing, once there is one.
func (f *Facts) confirming(entry *ledger.Pool) *zones.Listing {
	if f.View.Failure != nil {
		return nil
	}
	listing := f.View.Fresh(f.Now)
	if listing == nil || !listing.Began.After(ConfirmAfter(entry, f.Backend)) {
		return nil
	}
	return listing
}

// ConfirmAfter is the time after which the second listing has to begin: whoever was making a zone when Designate deleted the pool
// has done so by then, or failed.
func ConfirmAfter(entry *ledger.Pool, backend *v1alpha1.DesignateBackend) time.Time {
	timeout := DefaultRPCTimeout
	if backend != nil && backend.Spec.Designate.RPCResponseTimeout != nil {
		timeout = backend.Spec.Designate.RPCResponseTimeout.Duration
	}
	return entry.Deletion.Ended.Add(timeout)
}
