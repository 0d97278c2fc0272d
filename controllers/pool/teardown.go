package pool

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
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

// tearDown takes a withdrawn pool down in order: servers stop gracefully, then the StatefulSet goes, then what the
// servers used, then the finalizer. Every step waits until the API server says that the one before is complete.
func (r *Reconciler) tearDown(ctx context.Context, s *scope) (bool, error) {
	for _, step := range []func(context.Context, *scope) (bool, error){
		r.stopServers,
		func(ctx context.Context, s *scope) (bool, error) {
			return r.deleteAll(ctx, s, &appsv1.StatefulSetList{})
		},
		func(ctx context.Context, s *scope) (bool, error) {
			return r.deleteAll(ctx, s, owned.UsedByServers()...)
		},
	} {
		complete, err := step(ctx, s)
		if err != nil || !complete {
			return false, err
		}
	}
	if s.pool.DeletionTimestamp == nil {
		return false, nil
	}
	log.FromContext(ctx).Info("Pool is gone", "pool", s.entry.Name)
	return true, apply.RemoveFinalizer(ctx, r.Client, s.pool, v1alpha1.PoolFinalizer)
}

// stopServers scales the pool's StatefulSets to 0 and waits until no pod is left.
func (r *Reconciler) stopServers(ctx context.Context, s *scope) (bool, error) {
	var statefulSets appsv1.StatefulSetList
	if _, err := owned.List(ctx, r.APIReader, s.pool.Namespace, s.pool.UID, &statefulSets); err != nil {
		return false, err
	}
	var failures []error
	for i := range statefulSets.Items {
		failures = append(failures, r.scaleToZero(ctx, &statefulSets.Items[i]))
	}
	pods, err := owned.List(ctx, r.APIReader, s.pool.Namespace, s.pool.UID, &corev1.PodList{})
	if err := errors.Join(append(failures, err)...); err != nil {
		return false, err
	}
	if len(pods) > 0 {
		s.remaining = fmt.Sprintf("Servers that have not stopped yet: %d.", len(pods))
		return false, nil
	}
	return true, nil
}

func (r *Reconciler) scaleToZero(ctx context.Context, statefulSet *appsv1.StatefulSet) error {
	if ptr.Deref(statefulSet.Spec.Replicas, 1) == 0 || statefulSet.DeletionTimestamp != nil {
		return nil
	}
	base := statefulSet.DeepCopy()
	statefulSet.Spec.Replicas = ptr.To[int32](0)
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, statefulSet, patch, FieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("scale StatefulSet %s to 0: %w", statefulSet.Name, err)
	}
	return nil
}

// deleteAll deletes everything of some kinds that bears the pool's UID, and says whether all of it is gone.
func (r *Reconciler) deleteAll(ctx context.Context, s *scope, kinds ...client.ObjectList) (bool, error) {
	complete := true
	var failures []error
	for _, list := range kinds {
		present, err := owned.List(ctx, r.APIReader, s.pool.Namespace, s.pool.UID, list)
		failures = append(failures, err)
		for _, object := range present {
			complete = false
			s.remaining = fmt.Sprintf("%T %s is still there.", object, object.GetName())
			failures = append(failures, apply.Delete(ctx, r.Client, object))
		}
	}
	return complete, errors.Join(failures...)
}
