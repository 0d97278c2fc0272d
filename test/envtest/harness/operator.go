// Package harness runs the operator's controllers inside a test, against a real API server, and watches on the wire
// what they write.
package harness

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers"
	"github.com/designate-pools/designate-pool-operator/controllers/options"
	"github.com/designate-pools/designate-pool-operator/controllers/statistics"
)

// Scheme knows every kind that the operator reads or writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// Operator is the operator's controllers, running in one namespace without webhooks.
type Operator struct {
	// Wire sees every request of the operator.
	Wire *Wire
	// Manager is what the controllers run in.
	Manager ctrl.Manager

	stop context.CancelFunc
	done chan error
}

// Settings are those of an operator for one namespace.
type Settings struct {
	Config    *rest.Config
	Namespace string
	Logger    logr.Logger
	// Resync, unless 0, has every object looked at again that often.
	Resync time.Duration
	// Options are those of the shipped binary when nil.
	Options *options.Options
	// Ask is how BIND servers are asked for their zones, as the shipped binary does it when nil. kwok's pods have none to ask.
	Ask statistics.Ask
}

// StartOperator starts the controllers as the shipped binary does, and returns when their caches are filled.
func StartOperator(ctx context.Context, settings Settings) (*Operator, error) {
	opts, outside := options.Default(), controllers.Network()
	// There are no primaries here, and one that is silent would be told of seconds after all else has come to rest.
	outside.Primaries = func(context.Context, string) error { return nil }
	if settings.Options != nil {
		opts = *settings.Options
	}
	if settings.Ask != nil {
		outside.Servers = settings.Ask
	}
	wire := &Wire{}
	cfg := rest.CopyConfig(settings.Config)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire })
	cacheOptions := options.CacheOptions([]string{settings.Namespace})
	if settings.Resync > 0 {
		cacheOptions.SyncPeriod = &settings.Resync
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  Scheme(),
		Logger:  settings.Logger,
		Cache:   cacheOptions,
		Metrics: metricsserver.Options{BindAddress: "0"},
		// One test binary starts the same controllers many times over.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return nil, err
	}
	if err := setup(mgr, opts, outside); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.Background())
	operator := &Operator{Wire: wire, Manager: mgr, stop: stop, done: make(chan error, 1)}
	go func() { operator.done <- mgr.Start(run) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		stop()
		return nil, ctx.Err()
	}
	return operator, nil
}

// oneSetup lets one operator after the other put its metrics where the process has them, in the place of those of the one before.
var oneSetup sync.Mutex

func setup(mgr ctrl.Manager, opts options.Options, outside controllers.Outside) error {
	oneSetup.Lock()
	defer oneSetup.Unlock()
	return controllers.Setup(mgr, opts, outside)
}

// Stop stops the controllers and waits for them.
func (o *Operator) Stop() error {
	o.stop()
	return <-o.done
}
