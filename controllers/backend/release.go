package backend

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/apply"
)

// releaseBackend lets go of a DesignateBackend that is being deleted, now that no pool seems to be left, and takes along
// what the namespace has once.
func (r *Reconciler) releaseBackend(ctx context.Context, s *scope) error {
	var pools v1alpha1.DesignatePoolList
	if err := r.APIReader.List(ctx, &pools, client.InNamespace(s.namespace)); err != nil {
		return wrap(err, "list DesignatePools")
	}
	if len(pools.Items) > 0 {
		return nil // The cache is behind, and an event is on its way.
	}
	// The ledger goes last: until then it says what is ours.
	for _, object := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: v1alpha1.PoolsYAMLName}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: v1alpha1.RNDCSecretName}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: v1alpha1.LedgerName}},
	} {
		if err := r.deleteOurs(ctx, object); err != nil {
			return err
		}
	}
	return apply.RemoveFinalizer(ctx, r.Client, s.backend, v1alpha1.BackendFinalizer)
}

// deleteOurs deletes an object if it is the operator's.
func (r *Reconciler) deleteOurs(ctx context.Context, object client.Object) error {
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return wrap(client.IgnoreNotFound(err), "read "+object.GetName())
	}
	if !apply.IsOperators(object) {
		return nil
	}
	return apply.Delete(ctx, r.Client, object)
}
