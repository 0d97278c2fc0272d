package webhooks

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// SetupWithManager serves the webhooks from the manager's webhook server. Operator is the operator's own user name, as
// OperatorName tells it.
//
// The webhooks read from the API server and not from the manager's cache: a verdict about a pool that was made a moment
// ago counts it, and namespaces that the manager does not watch are no different.
func SetupWithManager(mgr ctrl.Manager, operator string) error {
	server := mgr.GetWebhookServer()
	for path, hook := range hooks(mgr.GetAPIReader(), mgr.GetScheme(), operator, clock.RealClock{}) {
		server.Register(path, hook)
	}
	return nil
}

func hooks(
	reader client.Reader, scheme *runtime.Scheme, operator string, now clock.PassiveClock,
) map[string]*admission.Webhook {
	admitted := exemptions{reader: reader, operator: operator}
	keeper := zoneKeeper{reader: reader, clock: now}
	return map[string]*admission.Webhook{
		configMapPath: admission.WithValidator(scheme,
			exempting[*corev1.ConfigMap]{admitted, configMapValidator{reader, keeper}}),
		poolPath: admission.WithValidator(scheme,
			exempting[*v1alpha1.DesignatePool]{admitted, poolValidator{reader, keeper}}),
		backendPath: admission.WithValidator(scheme,
			exempting[*v1alpha1.DesignateBackend]{admitted, backendValidator{reader}}),
		scalePath: {Handler: scaleHandler{admitted, reader, admission.NewDecoder(scheme)}},
	}
}
