// Package teardown takes down what bears a pool's UID, once the pool may go. Every step waits until the API server says that the
// one before is complete.
package teardown

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/controllers/apply"
	"github.com/designate-pools/designate-pool-operator/controllers/owned"
)

// FieldOwner owns what a teardown writes.
const FieldOwner client.FieldOwner = "designate-pool-operator-teardown"

// Teardown is that of one pool.
type Teardown struct {
	Client client.Client
	// Live reads from the API server: absence counts only when that says so.
	Live      client.Reader
	Namespace string
	UID       types.UID
}

// Step goes on: servers stop gracefully, then the StatefulSet goes, then what the servers used. It returns what is left, for
// people; nothing when all is gone.
func (t *Teardown) Step(ctx context.Context) (remaining string, err error) {
	for _, step := range []func(context.Context) (string, error){
		t.stopServers,
		func(ctx context.Context) (string, error) { return t.deleteAll(ctx, &appsv1.StatefulSetList{}) },
		func(ctx context.Context) (string, error) { return t.deleteAll(ctx, owned.UsedByServers()...) },
	} {
		remaining, err := step(ctx)
		if err != nil || remaining != "" {
			return remaining, err
		}
	}
	return "", nil
}

// stopServers scales the pool's StatefulSets to 0 and waits until no pod is left.
func (t *Teardown) stopServers(ctx context.Context) (string, error) {
	var statefulSets appsv1.StatefulSetList
	if _, err := owned.List(ctx, t.Live, t.Namespace, t.UID, &statefulSets); err != nil {
		return "", err
	}
	var failures []error
	for i := range statefulSets.Items {
		failures = append(failures, t.scaleToZero(ctx, &statefulSets.Items[i]))
	}
	pods, err := owned.List(ctx, t.Live, t.Namespace, t.UID, &corev1.PodList{})
	if err := errors.Join(append(failures, err)...); err != nil {
		return "", err
	}
	if len(pods) > 0 {
		return fmt.Sprintf("Servers that have not stopped yet: %d.", len(pods)), nil
	}
	return "", nil
}

func (t *Teardown) scaleToZero(ctx context.Context, statefulSet *appsv1.StatefulSet) error {
	if ptr.Deref(statefulSet.Spec.Replicas, 1) == 0 || statefulSet.DeletionTimestamp != nil {
		return nil
	}
	base := statefulSet.DeepCopy()
	statefulSet.Spec.Replicas = ptr.To[int32](0)
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := t.Client.Patch(ctx, statefulSet, patch, FieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("scale StatefulSet %s to 0: %w", statefulSet.Name, err)
	}
	return nil
}

// deleteAll deletes everything of some kinds that bears the pool's UID, and says what of it is left.
func (t *Teardown) deleteAll(ctx context.Context, kinds ...client.ObjectList) (string, error) {
	remaining := ""
	var failures []error
	for _, list := range kinds {
		present, err := owned.List(ctx, t.Live, t.Namespace, t.UID, list)
		failures = append(failures, err)
		for _, object := range present {
			remaining = fmt.Sprintf("%T %s is still there.", object, object.GetName())
			failures = append(failures, apply.Delete(ctx, t.Client, object))
		}
	}
	return remaining, errors.Join(failures...)
}
