package main

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/designate-pools/designate-pool-operator/webhooks"
)

// addWebhooks has the manager serve the webhooks as soon as it can, on every replica, and say that it is not ready
// before.
func addWebhooks(mgr ctrl.Manager, s *settings) error {
	certificates, err := addCertificates(mgr, s)
	if err != nil {
		return err
	}
	starter := &webhookStarter{mgr: mgr, certificates: certificates}
	if err := mgr.AddReadyzCheck("webhooks", starter.ready); err != nil {
		return err
	}
	return mgr.Add(starter)
}

// webhookStarter serves the webhooks once their certificate is there and the operator knows its own name. The manager
// must not hear of its webhook server earlier, for it would start it at once and fail.
type webhookStarter struct {
	mgr          ctrl.Manager
	certificates <-chan struct{}
	serving      atomic.Bool
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves webhooks.
func (s *webhookStarter) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (s *webhookStarter) Start(ctx context.Context) error {
	select {
	case <-s.certificates:
	case <-ctx.Done():
		return nil
	}
	operator, err := webhooks.OperatorName(ctx, s.mgr.GetClient())
	if err != nil {
		return err
	}
	if err := webhooks.SetupWithManager(s.mgr, operator); err != nil {
		return err
	}
	s.serving.Store(true)
	return nil
}

func (s *webhookStarter) ready(request *http.Request) error {
	if !s.serving.Load() {
		return errors.New("the webhooks have no certificate yet")
	}
	return s.mgr.GetWebhookServer().StartedChecker()(request)
}
