package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Delete deletes the very object that was read, never one made anew under its name. One that is gone or going is no error.
func Delete(ctx context.Context, c client.Client, object client.Object) error {
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := object.GetUID()
	err := c.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %s: %w", object, object.GetName(), err)
	}
	log.FromContext(ctx).Info("Deleted", "kind", fmt.Sprintf("%T", object), "name", object.GetName(), "uid", uid)
	return nil
}
