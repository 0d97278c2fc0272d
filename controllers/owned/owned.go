// Package owned lists what belongs to a pool. It asks the API server and goes by UID, because what it says is what
// decides that a pool is wholly gone.
package owned

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// By chooses what bears a pool's UID.
func By(namespace string, uid types.UID) []client.ListOption {
	return []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelPoolUID: string(uid)}}
}

// UsedByServers are the kinds that go once no server is left to use them.
func UsedByServers() []client.ObjectList {
	return []client.ObjectList{
		&corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.ConfigMapList{}, &corev1.SecretList{},
		&corev1.PersistentVolumeClaimList{},
	}
}

// kinds are all that there are of a pool.
func kinds() []client.ObjectList {
	return append([]client.ObjectList{&appsv1.StatefulSetList{}, &corev1.PodList{}}, UsedByServers()...)
}

// List is everything of one kind that bears a pool's UID. live must read from the API server.
func List(
	ctx context.Context, live client.Reader, namespace string, uid types.UID, list client.ObjectList,
) ([]client.Object, error) {
	if err := live.List(ctx, list, By(namespace, uid)...); err != nil {
		return nil, fmt.Errorf("list %T: %w", list, err)
	}
	return objectsIn(list)
}

func objectsIn(list client.ObjectList) ([]client.Object, error) {
	var objects []client.Object
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("%T has items without metadata", list)
		}
		objects = append(objects, object)
		return nil
	})
	return objects, err
}

// Any is one object of any kind that bears a pool's UID, or nil when there is none. An error says nothing about that.
func Any(ctx context.Context, live client.Reader, namespace string, uid types.UID) (client.Object, error) {
	for _, list := range kinds() {
		objects, err := List(ctx, live, namespace, uid, list)
		if err != nil {
			return nil, err
		}
		if len(objects) > 0 {
			return objects[0], nil
		}
	}
	return nil, nil
}

// ByUID is everything of a namespace that bears the operator's labels, by the UID of the pool that it was made for.
func ByUID(ctx context.Context, live client.Reader, namespace string) (map[types.UID][]client.Object, error) {
	found := map[types.UID][]client.Object{}
	for _, list := range kinds() {
		err := live.List(ctx, list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelPoolUID},
			client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedByOperator})
		if err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
		objects, err := objectsIn(list)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			uid := types.UID(object.GetLabels()[v1alpha1.LabelPoolUID])
			found[uid] = append(found[uid], object)
		}
	}
	return found, nil
}
