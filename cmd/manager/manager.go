package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers"
	"github.com/designate-pools/designate-pool-operator/controllers/options"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=designate-pool-operator,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=designate-pool-operator,resources=leases,resourceNames=designate-pool-operator,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=designate-pool-operator,resources=events,verbs=create;patch

// leaseName is the lease that the working operator holds.
const leaseName = "designate-pool-operator"

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// newManager puts the operator together; nothing runs yet.
func newManager(config *rest.Config, s *settings) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, managerOptions(scheme, s))
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := controllers.Setup(mgr, s.controllers, controllers.Network()); err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	if !s.webhooks.enabled {
		return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
	}
	return mgr, addWebhooks(mgr, s)
}

func managerOptions(scheme *runtime.Scheme, s *settings) ctrl.Options {
	metrics := metricsserver.Options{BindAddress: s.metricsAddress}
	if s.metricsAddress != "0" {
		metrics.SecureServing = true
		metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return ctrl.Options{
		Scheme:                  scheme,
		Cache:                   options.CacheOptions(s.namespaces),
		Metrics:                 metrics,
		HealthProbeBindAddress:  s.probeAddress,
		LeaderElection:          s.leaderElect,
		LeaderElectionID:        leaseName,
		LeaderElectionNamespace: s.operatorNamespace,
		// The process ends as soon as the manager has stopped, so the next leader need not wait for the lease to expire.
		LeaderElectionReleaseOnCancel: true,
		WebhookServer: webhook.NewServer(webhook.Options{
			Port:    s.webhooks.port,
			CertDir: s.webhooks.certDir,
		}),
	}
}
