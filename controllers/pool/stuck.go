package pool

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
)

// stuckAfter is how long a pod may be missing, without a claim that is still being deleted, before the StatefulSet
// controller is reminded of it. Each further reminder waits twice as long, up to maxReminderDelay: something else may
// keep the pod from being made, a quota for example.
const (
	stuckAfter       = 10 * time.Second
	maxReminderDelay = 10 * time.Minute
)

// remindOfMissingPods touches a StatefulSet whose controller has forgotten to make a pod. It does forget: a server that
// is scaled away and back at once finds its old claim still being deleted, the StatefulSet controller skips it then, and
// no event of the claim brings it back to it. Any change of the StatefulSet does.
func (r *Reconciler) remindOfMissingPods(ctx context.Context, s *scope) (bool, error) {
	missing, err := r.missingPod(ctx, s)
	if err != nil || missing == "" {
		return false, err
	}
	s.lookAgainAfter(stuckAfter)
	if !r.stuck(s) {
		return false, nil
	}
	base := s.statefulSet.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.statefulSet.ObjectMeta, v1alpha1.AnnotationReminded, r.Clock.Now().UTC().Format(time.RFC3339))
	if err := r.Client.Patch(ctx, s.statefulSet, client.MergeFrom(base), FieldOwner); err != nil {
		return false, fmt.Errorf("remind of pod %s: %w", missing, err)
	}
	log.FromContext(ctx).Info("Reminded the StatefulSet controller of a missing pod", "pod", missing)
	return false, nil
}

// missingPod is the first pod that the StatefulSet controller should have made: it has no claim either, which would
// have to go first.
func (r *Reconciler) missingPod(ctx context.Context, s *scope) (string, error) {
	if s.statefulSet == nil || s.statefulSet.Status.ObservedGeneration < s.statefulSet.Generation {
		return "", nil
	}
	var claims corev1.PersistentVolumeClaimList
	if err := r.Client.List(ctx, &claims, s.ownObjects()...); err != nil {
		return "", fmt.Errorf("list PersistentVolumeClaims: %w", err)
	}
	claimed := byName(claims.Items, func(o *corev1.PersistentVolumeClaim) string { return o.Name })
	for ordinal := range ptr.Deref(s.statefulSet.Spec.Replicas, 1) {
		pod := builders.PodName(s.statefulSet.Name, ordinal)
		if s.pods[pod] == nil && claimed[builders.ClaimName(pod)] == nil {
			return pod, nil
		}
	}
	return "", nil
}

// stuck says whether the servers have not been ready for long, and no reminder is younger than that.
func (r *Reconciler) stuck(s *scope) bool {
	ready := meta.FindStatusCondition(s.pool.Status.Conditions, v1alpha1.ConditionServersReady)
	if ready == nil || ready.Status == metav1.ConditionTrue || r.Clock.Since(ready.LastTransitionTime.Time) < stuckAfter {
		return false
	}
	reminded, err := time.Parse(time.RFC3339, s.statefulSet.Annotations[v1alpha1.AnnotationReminded])
	if err != nil || reminded.Before(ready.LastTransitionTime.Time) {
		return true
	}
	delay := min(max(reminded.Sub(ready.LastTransitionTime.Time), stuckAfter), maxReminderDelay)
	return r.Clock.Since(reminded) >= delay
}
