// Package acceptance judges which DesignatePools count: whose spec is valid, and who holds a pool name that several
// claim. It is the one place that decides this, for the pool controller, the aggregator and the webhook alike.
package acceptance

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// Verdict is what became of one DesignatePool.
type Verdict struct {
	// Accepted says that the spec is valid and holds its pool name.
	Accepted bool
	// Holds says that the pool holds its name, whether its spec is valid or not.
	Holds bool
	// Reason and Message are those of the condition Accepted.
	Reason, Message string
}

// Judge judges all DesignatePools of a namespace.
//
// A name belongs to the pool that has a claim to it among claims, the last one counting, even when that pool's object has
// vanished, for its servers are still there. Otherwise the oldest claim wins: by creation time, then by UID. Names count as one when
// Designate's database would take them for one.
func Judge(pools []v1alpha1.DesignatePool, claims []ledger.Pool) map[types.UID]Verdict {
	holders := map[string]holder{}
	for _, claim := range claims {
		holders[conversion.FoldName(claim.Name)] = holder{uid: claim.UID, object: claim.Object, name: claim.Name}
	}
	for _, pool := range ByAge(pools) {
		if looksLikeDefault(pool) {
			continue
		}
		name := conversion.FoldName(pool.PoolName())
		if _, held := holders[name]; !held {
			holders[name] = holder{uid: pool.UID, object: pool.Name, name: pool.PoolName()}
		}
	}
	verdicts := make(map[types.UID]Verdict, len(pools))
	for i := range pools {
		verdicts[pools[i].UID] = judge(&pools[i], holders[conversion.FoldName(pools[i].PoolName())])
	}
	return verdicts
}

// Claims are the claims to pool names of a namespace that go before those of DesignatePools: of what runs, whether the
// ledger knows of it or has been lost, and of the ledger's entries.
func Claims(statefulSets []appsv1.StatefulSet, entries []ledger.Pool) []ledger.Pool {
	var claims []ledger.Pool
	for i := range statefulSets {
		labels := statefulSets[i].Labels
		if name := statefulSets[i].Annotations[v1alpha1.AnnotationPoolName]; name != "" {
			claims = append(claims, ledger.Pool{
				UID: types.UID(labels[v1alpha1.LabelPoolUID]), Object: labels[v1alpha1.LabelPool], Name: name,
			})
		}
	}
	return append(claims, entries...)
}

// ByAge is the order in which claims count: by creation time, then by UID.
func ByAge(pools []v1alpha1.DesignatePool) []*v1alpha1.DesignatePool {
	sorted := make([]*v1alpha1.DesignatePool, 0, len(pools))
	for i := range pools {
		sorted = append(sorted, &pools[i])
	}
	slices.SortFunc(sorted, func(a, b *v1alpha1.DesignatePool) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	return sorted
}

type holder struct {
	uid          types.UID
	object, name string
}

// looksLikeDefault says that Designate's database would take the pool's name for default, and people would not. Such a
// claim holds nothing, however old: the name belongs to the default pool.
func looksLikeDefault(pool *v1alpha1.DesignatePool) bool {
	return !pool.IsDefault() && conversion.FoldName(pool.PoolName()) == conversion.FoldName(v1alpha1.DefaultPoolName)
}

func judge(pool *v1alpha1.DesignatePool, holder holder) Verdict {
	if looksLikeDefault(pool) {
		return Verdict{
			Reason: v1alpha1.ReasonInvalidSpec,
			Message: fmt.Sprintf("Designate would take the pool name %q for %q, which belongs to the default pool: give the pool another name.",
				pool.PoolName(), v1alpha1.DefaultPoolName),
		}
	}
	if holder.uid != pool.UID {
		return Verdict{
			Reason: v1alpha1.ReasonPoolNameTaken,
			Message: fmt.Sprintf("The DesignatePool %s, UID %s, holds the pool name %q. "+
				"This one takes it over once that one, with its servers, is gone.", holder.object, holder.uid, holder.name),
		}
	}
	if _, err := conversion.ValidatePool(pool); err != nil {
		return Verdict{Holds: true, Reason: v1alpha1.ReasonInvalidSpec, Message: err.Error()}
	}
	return Verdict{Accepted: true, Holds: true, Reason: v1alpha1.ReasonAccepted, Message: "The spec is valid and holds its pool name."}
}
