package removal

import (
	"slices"
	"strings"
	"time"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// Orphan is what bears the UID of a DesignatePool that neither exists nor is in the ledger.
type Orphan struct {
	// Name is the pool's in Designate, as its objects tell it, and ID its id there where they tell that; both may be empty.
	Name, ID string
	// Serves says that there is a StatefulSet or a pod.
	Serves bool
	// Pools are the entries of the ledger, of pools that live.
	Pools []ledger.Pool
	// Backend is nil when the namespace has none.
	Backend *v1alpha1.DesignateBackend
	View    zones.View
	// Since is when it was first seen.
	Since, Now time.Time
}

// JudgeOrphan is the gate for what no pool holds any more. What is left of a pool that another one has taken the place of serves
// nobody, so nothing is lost with it. Of any other Designate has to say that it has no zones.
func JudgeOrphan(o Orphan) Verdict {
	if !o.Serves && o.replaced() {
		return Verdict{Wanted: true, Allowed: true}
	}
	switch listing := o.View.Fresh(o.Now); {
	case o.Backend == nil || o.Backend.Spec.Designate.Access == nil:
		return blocked(v1alpha1.ReasonDesignateAccessMissing, "Only Designate knows whether the pool %q still has zones, and this operator "+
			"cannot ask it.", o.Name)
	case o.View.Failure != nil:
		unreachable := o.View.Reachable(o.Now)
		return blocked(unreachable.Reason, "Nobody can tell whether the pool %q still has zones. %s", o.Name, unreachable.Message)
	case listing == nil || !listing.Began.After(o.Since):
		return blocked(v1alpha1.ReasonZonesUnknown, "Designate has not said yet whether the pool %q still has zones.", o.Name)
	default:
		return o.judge(listing)
	}
}

// judge goes by a listing.
func (o *Orphan) judge(listing *zones.Listing) Verdict {
	ids := o.ids(listing)
	total, names, inDesignate := 0, []string{}, false
	for _, id := range ids {
		in := listing.In(id)
		total += in.Total
		names = append(names, in.Names...)
		inDesignate = inDesignate || known(listing, &ledger.Pool{ID: id})
	}
	switch {
	case len(ids) == 0:
		return blocked(v1alpha1.ReasonZonesUnknown, "Its objects do not tell which pool they belonged to.")
	case total > 0:
		return blocked(v1alpha1.ReasonZonesExist, "Zones that are in the pool %q: %d (%s).", o.Name, total, zones.Few(names, total))
	case o.Serves && inDesignate:
		return blocked(v1alpha1.ReasonPoolVanished, "Designate still has the pool %q, so zones can be made in it: delete it there "+
			"(DELETE /v2/pools/%s).", o.Name, strings.Join(ids, ", "))
	default:
		return Verdict{Wanted: true, Allowed: true}
	}
}

// replaced says that a pool that lives has the name.
func (o *Orphan) replaced() bool {
	return slices.ContainsFunc(o.Pools, func(p ledger.Pool) bool { return p.Name == o.Name })
}

// ids are the ids that the pool may have in Designate: the one that its objects tell, and that of the pool of its name there.
func (o *Orphan) ids(listing *zones.Listing) []string {
	var ids []string
	if o.ID != "" {
		ids = append(ids, o.ID)
	}
	for _, pool := range listing.Known {
		if o.Name != "" && pool.Name == o.Name && pool.ID != o.ID {
			ids = append(ids, pool.ID)
		}
	}
	return ids
}
