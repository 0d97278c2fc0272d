// Package controllers puts the operator's controllers together.
package controllers

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/backend"
	"github.com/designate-pools/designate-pool-operator/controllers/bridge"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/options"
	"github.com/designate-pools/designate-pool-operator/controllers/pool"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/tsigkeys"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
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

	connections := designate.NewConnections(mgr.GetAPIReader(), designate.Limits{Request: opts.DesignateTimeout})
	observer := newObserver(mgr, connections)
	if err := observer.SetupWithManager(mgr, opts.For(options.Zones)); err != nil {
		return fmt.Errorf("controller %s: %w", options.Zones, err)
	}

	registrar := &tsigkeys.Registrar{
		Client: mgr.GetClient(),
		Connect: func(ctx context.Context, backend *v1alpha1.DesignateBackend) (tsigkeys.Designate, error) {
			return connections.Client(ctx, backend)
		},
		Zones: observer,
		Clock: clock.RealClock{},
	}
	if err := registrar.SetupWithManager(mgr, opts.For(options.TSIG), observer.BackendChanges()); err != nil {
		return fmt.Errorf("controller %s: %w", options.TSIG, err)
	}

	servers := &serving.Observer{
		Client: mgr.GetClient(),
		Ask:    statistics.NewClient(statistics.Limits{}).Zones,
		Zones:  observer,
		Clock:  clock.RealClock{},
	}
	if err := servers.SetupWithManager(mgr, opts.For(options.Serving), observer.Listings()); err != nil {
		return fmt.Errorf("controller %s: %w", options.Serving, err)
	}

	err = (&pool.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Clock:     clock.RealClock{},
		Zones:     observer,
		TSIGKeys:  registrar,
		Serving:   servers,
	}).SetupWithManager(mgr, opts.For(options.Pool), observer.PoolChanges(), registrar.PoolChanges(), servers.PoolChanges())
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Pool, err)
	}

	err = (&backend.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(eventSource(options.Backend)),
		Clock:     clock.RealClock{},
		Zones:     observer,
		Serving:   servers,
	}).SetupWithManager(mgr, opts.For(options.Backend), observer.BackendChanges(), servers.BackendChanges())
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Backend, err)
	}
	return nil
}

// newObserver makes the observer of zones, which lets go of connections that are not needed any more.
func newObserver(mgr ctrl.Manager, connections *designate.Connections) *zones.Observer {
	return &zones.Observer{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Connect: func(ctx context.Context, backend *v1alpha1.DesignateBackend) (zones.Designate, error) {
			return connections.Client(ctx, backend)
		},
		Disconnect: connections.Forget,
		Clock:      clock.RealClock{},
	}
}

// eventSource is the name under which a controller reports Events.
func eventSource(controller string) string { return "designate-pool-operator-" + controller }
