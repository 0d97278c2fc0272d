package pool

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
	"github.com/designate-pools/designate-pool-operator/controllers/teardown"
)

// releaseUnheld lets go of a pool that never held anything: one that lost the claim to its name, or was deleted before
// it had an index. A pool that has objects without having an entry waits for the ledger to be written anew. So does one
// that had an index, while there is no ledger, unless it may go in any case: a terminating namespace takes no new one.
func (r *Reconciler) releaseUnheld(ctx context.Context, s *scope) (bool, error) {
	if s.ledgerLost && s.pool.Status.Index != nil && !s.forced() {
		s.remaining = "The ledger is lost, and what the pool holds is unknown until it has been written anew. A namespace that is " +
			"being deleted takes no new one: there only the annotation " + v1alpha1.AnnotationForceRemoval + " lets the pool go."
		return false, nil
	}
	present, err := owned.Any(ctx, r.APIReader, s.pool.Namespace, s.pool.UID)
	if err != nil {
		return false, err
	}
	if present != nil {
		s.remaining = fmt.Sprintf("%T %s bears the pool's UID and is not in the ledger yet.", present, present.GetName())
		return false, nil
	}
	if s.pool.DeletionTimestamp == nil {
		return r.requestDeletion(ctx, s)
	}
	return true, apply.RemoveFinalizer(ctx, r.Client, s.pool, v1alpha1.PoolFinalizer)
}

// forced says that somebody asked for the removal whatever is known of the pool.
func (s *scope) forced() bool {
	return s.pool.Annotations[v1alpha1.AnnotationForceRemoval] == s.pool.PoolName()
}

// requestDeletion deletes a DesignatePool whose removal was asked for otherwise, now that it cannot be taken back.
func (r *Reconciler) requestDeletion(ctx context.Context, s *scope) (bool, error) {
	return false, apply.Delete(ctx, r.Client, s.pool)
}

// tearDown takes a withdrawn pool down in order: Designate forgets its TSIG key, servers stop, everything else goes, and last the
// finalizer.
func (r *Reconciler) tearDown(ctx context.Context, s *scope) (bool, error) {
	if s.remaining = s.tsigKeyLeft(); s.remaining != "" {
		return false, nil
	}
	of := teardown.Teardown{Client: r.Client, Live: r.APIReader, Namespace: s.pool.Namespace, UID: s.pool.UID}
	var err error
	if s.remaining, err = of.Step(ctx); err != nil || s.remaining != "" {
		return false, err
	}
	if s.pool.DeletionTimestamp == nil {
		return false, nil
	}
	log.FromContext(ctx).Info("Pool is gone", "pool", s.entry.Name)
	return true, apply.RemoveFinalizer(ctx, r.Client, s.pool, v1alpha1.PoolFinalizer)
}

// tsigKeyLeft says that Designate may still have the key of a pool that is removed. Whoever forces a removal may not have a
// Designate that could answer.
func (s *scope) tsigKeyLeft() string {
	if s.entry.Name == v1alpha1.DefaultPoolName || s.forced() || s.backend == nil || s.backend.Spec.Designate.Access == nil {
		return ""
	}
	return s.tsig.Left(s.pool.UID)
}
