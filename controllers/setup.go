// Package controllers puts the operator's controllers together.
package controllers

import (
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/designate-pools/designate-pool-operator/controllers/backend"
	"github.com/designate-pools/designate-pool-operator/controllers/bridge"
	"github.com/designate-pools/designate-pool-operator/controllers/options"
	"github.com/designate-pools/designate-pool-operator/controllers/pool"
)

// Setup starts every controller with a manager. The operator and the tests of the whole both come through here, so that
// what is tested is what runs.
func Setup(mgr ctrl.Manager, opts options.Options) error {
	if err := opts.Validate(); err != nil {
		return fmt.Errorf("options of the controllers: %w", err)
	}

	err := (&bridge.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(eventSource(options.Bridge)),
		Clock:     clock.RealClock{},
	}).SetupWithManager(mgr, opts.For(options.Bridge))
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Bridge, err)
	}

	err = (&pool.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Clock:     clock.RealClock{},
	}).SetupWithManager(mgr, opts.For(options.Pool))
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Pool, err)
	}

	err = (&backend.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(eventSource(options.Backend)),
		Clock:     clock.RealClock{},
	}).SetupWithManager(mgr, opts.For(options.Backend))
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Backend, err)
	}
	return nil
}

// eventSource is the name under which a controller reports Events.
func eventSource(controller string) string { return "designate-pool-operator-" + controller }
