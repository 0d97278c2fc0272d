package webhooks

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// +kubebuilder:webhook:path=/validate-designatepool-scale,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,groups=designate.openstack.org,resources=designatepools/scale,verbs=update,versions=v1alpha1,name=designatepool-scale.designate.openstack.org,serviceName=designate-pool-operator-webhook,serviceNamespace=designate-pool-operator,admissionReviewVersions=v1

const scalePath = "/validate-designatepool-scale"

// scaleHandler judges changes of a DesignatePool's scale, which do not pass the webhook of the DesignatePool itself.
type scaleHandler struct {
	exemptions
	reader  client.Reader
	decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h scaleHandler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Update {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("a scale is updated, and the operation is %s",
			request.Operation))
	}
	if h.operatorsOwn(request) {
		return admission.Allowed("")
	}
	var before, after autoscalingv1.Scale
	if err := h.decoder.DecodeRaw(request.OldObject, &before); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if err := h.decoder.DecodeRaw(request.Object, &after); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if before.Spec.Replicas == after.Spec.Replicas {
		return admission.Allowed("")
	}
	denial := h.judge(ctx, client.ObjectKey{Namespace: request.Namespace, Name: request.Name}, after.Spec.Replicas)
	if denial != nil {
		denial = h.unlessTerminating(ctx, request.Namespace, denial)
	}
	if denial != nil {
		return admission.Denied(denial.Error())
	}
	return admission.Allowed("")
}

func (h scaleHandler) judge(ctx context.Context, key client.ObjectKey, replicas int32) error {
	var pool v1alpha1.DesignatePool
	if err := h.reader.Get(ctx, key, &pool); err != nil {
		return fmt.Errorf("reading DesignatePool %s: %w", key.Name, err)
	}
	if pool.MadeByBridge() {
		return editItsSource(ctx, h.reader, &pool)
	}
	if replicas < 0 || replicas > v1alpha1.MaxReplicas {
		return fmt.Errorf("pool %q can have 0 to %d servers, and %d are asked for",
			pool.PoolName(), v1alpha1.MaxReplicas, replicas)
	}
	return nil
}
