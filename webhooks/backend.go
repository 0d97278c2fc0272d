package webhooks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// +kubebuilder:webhook:path=/validate-designatebackend,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups=designate.openstack.org,resources=designatebackends,verbs=create;update,versions=v1alpha1,name=designatebackend.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-designatebackend,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups=designate.openstack.org,resources=designatebackends,verbs=delete,versions=v1alpha1,name=designatebackend-removal.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1

const backendPath = "/validate-designatebackend"

// backendValidator judges DesignateBackends.
type backendValidator struct{ reader client.Reader }

// ValidateCreate implements admission.Validator.
func (v backendValidator) ValidateCreate(
	_ context.Context, backend *v1alpha1.DesignateBackend,
) (admission.Warnings, error) {
	return conversion.ValidateBackend(backend)
}

// ValidateUpdate implements admission.Validator.
func (v backendValidator) ValidateUpdate(
	_ context.Context, before, after *v1alpha1.DesignateBackend,
) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	return conversion.ValidateBackend(after)
}

// ValidateDelete implements admission.Validator.
func (v backendValidator) ValidateDelete(
	ctx context.Context, backend *v1alpha1.DesignateBackend,
) (admission.Warnings, error) {
	if !backend.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	pools, err := poolsOf(ctx, v.reader, backend.Namespace)
	if err != nil || len(pools) == 0 {
		return nil, err
	}
	names := make([]string, 0, len(pools))
	for i := range pools {
		names = append(names, pools[i].PoolName())
	}
	return admission.Warnings{fmt.Sprintf("this asks for the removal of every pool of the namespace, which cannot be taken "+
		"back: %s; each works on until its removal is allowed (condition %s)",
		quotedList(names), v1alpha1.ConditionRemovalBlocked)}, nil
}
