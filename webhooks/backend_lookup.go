package webhooks

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// +kubebuilder:rbac:groups=designate.openstack.org,resources=designatebackends,verbs=get

// backendOf returns the DesignateBackend of a namespace, or nil when there is none.
func backendOf(
	ctx context.Context, reader client.Reader, namespace string,
) (*v1alpha1.DesignateBackend, error) {
	var backend v1alpha1.DesignateBackend
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.BackendName}, &backend)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading DesignateBackend %s: %w", v1alpha1.BackendName, err)
	}
	return &backend, nil
}
