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
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/primaries"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
	"github.com/designate-pools/designate-pool-operator/controllers/sweep"
	"github.com/designate-pools/designate-pool-operator/controllers/tsigkeys"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// Outside is whom the controllers ask beside the API server and Designate.
type Outside struct {
	// Servers asks a BIND server for its zones.
	Servers statistics.Ask
	// Primaries asks one of Designate's mdns servers whether it answers.
	Primaries primaries.AskFunc
}

// Network asks over the network.
func Network() Outside {
	return Outside{Servers: statistics.NewClient(statistics.Limits{}).Zones, Primaries: primaries.Ask}
}

// Setup starts every controller with a manager. The operator and the tests of the whole both come through here, so that
// what is tested is what runs.
// The two differ in what is outside of the API server and of Designate.
func Setup(mgr ctrl.Manager, opts options.Options, outside Outside) error {
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

	registrar := newRegistrar(mgr, connections, observer)
	if err := registrar.SetupWithManager(mgr, opts.For(options.TSIG), observer.BackendChanges()); err != nil {
		return fmt.Errorf("controller %s: %w", options.TSIG, err)
	}
	deleter := newDeleter(mgr, connections)
	if err := deleter.SetupWithManager(mgr, opts.For(options.PoolDeletion)); err != nil {
		return fmt.Errorf("controller %s: %w", options.PoolDeletion, err)
	}

	servers := &serving.Observer{
		Client: mgr.GetClient(),
		Ask:    outside.Servers,
		Zones:  observer,
		Clock:  clock.RealClock{},
	}
	if err := servers.SetupWithManager(mgr, opts.For(options.Serving), observer.Listings()); err != nil {
		return fmt.Errorf("controller %s: %w", options.Serving, err)
	}

	err = (&pool.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(eventSource(options.Pool)),
		Clock:     clock.RealClock{},
		Zones:     observer,
		Deletions: deleter,
		TSIGKeys:  registrar,
		Serving:   servers,
	}).SetupWithManager(mgr, opts.For(options.Pool), observer.PoolChanges(), registrar.PoolChanges(), servers.PoolChanges(),
		deleter.PoolChanges())
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Pool, err)
	}

	err = (&backend.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(eventSource(options.Backend)),
		Clock:     clock.RealClock{},
		Zones:     observer,
		Deletions: deleter,
		TSIGKeys:  registrar,
		Serving:   servers,
	}).SetupWithManager(mgr, opts.For(options.Backend), observer.BackendChanges(), servers.BackendChanges(), deleter.BackendChanges())
	if err != nil {
		return fmt.Errorf("controller %s: %w", options.Backend, err)
	}
	return setupLookouts(mgr, opts, observer, outside.Primaries)
}

// setupLookouts starts those that no other controller waits for: the one that finds what belongs to no pool, and the one that asks
// primaries.
func setupLookouts(mgr ctrl.Manager, opts options.Options, observer *zones.Observer, ask primaries.AskFunc) error {
	sweeper := &sweep.Sweeper{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(eventSource(options.Sweep)),
		Zones:     observer,
		Clock:     clock.RealClock{},
	}
	if err := sweeper.SetupWithManager(mgr, opts.For(options.Sweep)); err != nil {
		return fmt.Errorf("controller %s: %w", options.Sweep, err)
	}
	watcher := &primaries.Watcher{Client: mgr.GetClient(), Ask: ask}
	if err := watcher.SetupWithManager(mgr, opts.For(options.Primaries)); err != nil {
		return fmt.Errorf("controller %s: %w", options.Primaries, err)
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

// newRegistrar makes the one that registers TSIG keys.
func newRegistrar(mgr ctrl.Manager, connections *designate.Connections, observer *zones.Observer) *tsigkeys.Registrar {
	return &tsigkeys.Registrar{
		Client: mgr.GetClient(),
		Connect: func(ctx context.Context, backend *v1alpha1.DesignateBackend) (tsigkeys.Designate, error) {
			return connections.Client(ctx, backend)
		},
		Zones: observer,
		Clock: clock.RealClock{},
	}
}

// newDeleter makes the one that has pools deleted in Designate.
func newDeleter(mgr ctrl.Manager, connections *designate.Connections) *pooldeletion.Deleter {
	return &pooldeletion.Deleter{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Connect: func(ctx context.Context, backend *v1alpha1.DesignateBackend) (pooldeletion.Designate, error) {
			return connections.Client(ctx, backend)
		},
		Clock: clock.RealClock{},
	}
}

// eventSource is the name under which a controller reports Events.
func eventSource(controller string) string { return "designate-pool-operator-" + controller }
