package main

import (
	"fmt"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/designate-pools/designate-pool-operator/webhooks"
)

// A change of the authority is what API servers have to be told of, so it outlives the installation; a certificate can
// be changed without anybody noticing, so it is renewed often, and long before it ends.
const (
	authorityLifetime   = 20 * 365 * 24 * time.Hour
	certificateLifetime = 90 * 24 * time.Hour
	renewedBefore       = 30 * 24 * time.Hour
	renewalChecked      = time.Hour
)

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=get;list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=designate-pool-operator,verbs=update
// +kubebuilder:rbac:groups="",namespace=designate-pool-operator,resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",namespace=designate-pool-operator,resources=secrets,resourceNames=designate-pool-operator-webhook,verbs=update

// addCertificates has the manager keep a certificate for the webhooks, in a Secret that all replicas share and in files
// that this one serves from, and its authority in the ValidatingWebhookConfiguration. The channel is closed when all is
// in place. Without a Secret all of this is somebody else's, and in place from the start.
func addCertificates(mgr ctrl.Manager, s *settings) (<-chan struct{}, error) {
	ready := make(chan struct{})
	if s.webhooks.secret == "" {
		close(ready)
		return ready, nil
	}
	secret := types.NamespacedName{Namespace: s.operatorNamespace, Name: s.webhooks.secret}
	if err := addCertificateFiles(mgr, secret, s.webhooks.certDir); err != nil {
		return nil, fmt.Errorf("files of the webhooks' certificate: %w", err)
	}
	host := fmt.Sprintf("%s.%s.svc", s.webhooks.service, s.operatorNamespace)
	err := rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:              secret,
		CertDir:                s.webhooks.certDir,
		CAName:                 "designate-pool-operator",
		CAOrganization:         "designate-pool-operator",
		DNSName:                host,
		ExtraDNSNames:          append([]string{host + ".cluster.local"}, s.webhooks.hostNames...),
		IsReady:                ready,
		Webhooks:               []rotator.WebhookInfo{{Name: webhooks.ConfigurationName, Type: rotator.Validating}},
		FieldOwner:             "designate-pool-operator-certificates",
		CaCertDuration:         authorityLifetime,
		ServerCertDuration:     certificateLifetime,
		LookaheadInterval:      renewedBefore,
		RotationCheckFrequency: renewalChecked,
		// The Secret is shared and the files are not: each replica has to see to its own.
		RequireLeaderElection: false,
	})
	if err != nil {
		return nil, fmt.Errorf("rotation of the webhooks' certificate: %w", err)
	}
	return ready, nil
}
