package options

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

// Names of the controllers, as For takes them and as they show in logs and metrics.
const (
	// Bridge turns the ConfigMap and the DesignateBackend into DesignatePools.
	Bridge = "bridge"
	// Pool makes the servers of one DesignatePool.
	Pool = "pool"
	// Backend sees to what the pools of a namespace share.
	Backend = "backend"
	// Zones lists the zones of each Designate.
	Zones = "zones"
	// TSIG registers the pools' TSIG keys in each Designate.
	TSIG = "tsig"
	// Serving asks the servers of each pool which zones they have.
	Serving = "serving"
	// PoolDeletion has each Designate delete the pools that are being removed.
	PoolDeletion = "pool-deletion"
	// Sweep finds what belongs to no pool.
	Sweep = "sweep"
	// Primaries asks Designate's mdns servers whether they answer.
	Primaries = "primaries"
)

// Names of the flags that Bind makes.
const (
	flagBridgeConcurrency    = "bridge-concurrency"
	flagPoolConcurrency      = "pool-concurrency"
	flagBackendConcurrency   = "backend-concurrency"
	flagZonesConcurrency     = "zones-concurrency"
	flagTSIGConcurrency      = "tsig-concurrency"
	flagServingConcurrency   = "serving-concurrency"
	flagDeletionConcurrency  = "pool-deletion-concurrency"
	flagSweepConcurrency     = "sweep-concurrency"
	flagPrimariesConcurrency = "primaries-concurrency"
	flagRetryBaseDelay       = "retry-base-delay"
	flagRetryMaxDelay        = "retry-max-delay"
	flagRetryQPS             = "retry-qps"
	flagRetryBurst           = "retry-burst"
	flagReconcileTimeout     = "reconcile-timeout"
	flagZoneListingTimeout   = "zone-listing-timeout"
	flagDesignateTimeout     = "designate-request-timeout"
)

// Options are the settings of the controllers. Default gives usable ones.
type Options struct {
	// BridgeConcurrency, PoolConcurrency and those that follow are how many objects each controller works on at once. A
	// Designate, or a server, that does not answer takes one of the last four for as long as it is asked.
	BridgeConcurrency  int
	PoolConcurrency    int
	BackendConcurrency int
	ZonesConcurrency   int
	TSIGConcurrency    int
	ServingConcurrency int
	// PoolDeletionConcurrency is that of the controller that has Designate delete pools.
	PoolDeletionConcurrency int
	// SweepConcurrency is that of the controller that finds what belongs to no pool.
	SweepConcurrency int
	// PrimariesConcurrency is that of the controller that asks mdns servers, for which one that is silent takes seconds.
	PrimariesConcurrency int

	// RetryBaseDelay is the wait before the first retry of an object. Each further retry waits twice as long, up to
	// RetryMaxDelay.
	RetryBaseDelay time.Duration
	RetryMaxDelay  time.Duration

	// RetryQPS and RetryBurst bound the retries of all objects of one controller together, so that many failing objects
	// do not become a load of their own.
	RetryQPS   float64
	RetryBurst int

	// ReconcileTimeout ends a reconcile that hangs, so that it cannot keep others from their turn.
	ReconcileTimeout time.Duration

	// ZoneListingTimeout is the same for a listing of all zones of a Designate, which may take longer than anything else.
	ZoneListingTimeout time.Duration

	// DesignateTimeout is the time for one request to Designate or Keystone, from the connection to the last byte.
	DesignateTimeout time.Duration
}

// Default returns the options of an operator that was given no flags.
func Default() Options {
	return Options{
		BridgeConcurrency:       4,
		PoolConcurrency:         4,
		BackendConcurrency:      4,
		ZonesConcurrency:        8,
		TSIGConcurrency:         8,
		ServingConcurrency:      16,
		PoolDeletionConcurrency: 8,
		SweepConcurrency:        2,
		PrimariesConcurrency:    16,
		RetryBaseDelay:          20 * time.Millisecond,
		RetryMaxDelay:           5 * time.Minute,
		RetryQPS:                10,
		RetryBurst:              100,
		ReconcileTimeout:        2 * time.Minute,
		ZoneListingTimeout:      10 * time.Minute,
		DesignateTimeout:        time.Minute,
	}
}

// Bind makes a flag of each option. The present values are the flags' defaults.
func (o *Options) Bind(flags *flag.FlagSet) {
	flags.IntVar(&o.BridgeConcurrency, flagBridgeConcurrency, o.BridgeConcurrency,
		"How many namespaces the bridge works on at once.")
	flags.IntVar(&o.PoolConcurrency, flagPoolConcurrency, o.PoolConcurrency,
		"How many DesignatePools are worked on at once.")
	flags.IntVar(&o.BackendConcurrency, flagBackendConcurrency, o.BackendConcurrency,
		"How many DesignateBackends are worked on at once.")
	flags.IntVar(&o.ZonesConcurrency, flagZonesConcurrency, o.ZonesConcurrency,
		"How many Designates are asked for their zones at once.")
	flags.IntVar(&o.TSIGConcurrency, flagTSIGConcurrency, o.TSIGConcurrency,
		"How many Designates have their TSIG keys looked at, at once.")
	flags.IntVar(&o.ServingConcurrency, flagServingConcurrency, o.ServingConcurrency,
		"How many DesignatePools have their servers asked for their zones at once.")
	flags.IntVar(&o.PoolDeletionConcurrency, flagDeletionConcurrency, o.PoolDeletionConcurrency,
		"How many Designates are asked to delete pools at once.")
	flags.IntVar(&o.SweepConcurrency, flagSweepConcurrency, o.SweepConcurrency,
		"How many namespaces are swept for what belongs to no pool at once.")
	flags.IntVar(&o.PrimariesConcurrency, flagPrimariesConcurrency, o.PrimariesConcurrency,
		"How many DesignateBackends have their primaries asked at once.")
	flags.DurationVar(&o.RetryBaseDelay, flagRetryBaseDelay, o.RetryBaseDelay,
		"Wait before the first retry of an object; it doubles with each further one.")
	flags.DurationVar(&o.RetryMaxDelay, flagRetryMaxDelay, o.RetryMaxDelay,
		"Longest wait between two retries of an object.")
	flags.Float64Var(&o.RetryQPS, flagRetryQPS, o.RetryQPS,
		"Retries a second of all objects of one controller together.")
	flags.IntVar(&o.RetryBurst, flagRetryBurst, o.RetryBurst,
		"Retries of all objects of one controller that may come at once before --"+flagRetryQPS+" holds.")
	flags.DurationVar(&o.ReconcileTimeout, flagReconcileTimeout, o.ReconcileTimeout,
		"Time after which one reconcile is broken off and retried.")
	flags.DurationVar(&o.ZoneListingTimeout, flagZoneListingTimeout, o.ZoneListingTimeout,
		"Time after which one listing of all zones of a Designate is broken off and retried.")
	flags.DurationVar(&o.DesignateTimeout, flagDesignateTimeout, o.DesignateTimeout,
		"Time after which one request to Designate or Keystone is broken off.")
}

// Validate refuses values that no controller can work with, naming each flag that holds one.
func (o Options) Validate() error {
	var faults []error
	atLeastOne := func(name string, value int) {
		if value < 1 {
			faults = append(faults, fmt.Errorf("--%s must be 1 or more, and is %d", name, value))
		}
	}
	positive := func(name string, value time.Duration) {
		if value <= 0 {
			faults = append(faults, fmt.Errorf("--%s must be longer than 0, and is %s", name, value))
		}
	}

	atLeastOne(flagBridgeConcurrency, o.BridgeConcurrency)
	atLeastOne(flagPoolConcurrency, o.PoolConcurrency)
	atLeastOne(flagBackendConcurrency, o.BackendConcurrency)
	atLeastOne(flagZonesConcurrency, o.ZonesConcurrency)
	atLeastOne(flagTSIGConcurrency, o.TSIGConcurrency)
	atLeastOne(flagServingConcurrency, o.ServingConcurrency)
	atLeastOne(flagDeletionConcurrency, o.PoolDeletionConcurrency)
	atLeastOne(flagSweepConcurrency, o.SweepConcurrency)
	atLeastOne(flagPrimariesConcurrency, o.PrimariesConcurrency)
	atLeastOne(flagRetryBurst, o.RetryBurst)
	positive(flagRetryBaseDelay, o.RetryBaseDelay)
	positive(flagReconcileTimeout, o.ReconcileTimeout)
	positive(flagZoneListingTimeout, o.ZoneListingTimeout)
	positive(flagDesignateTimeout, o.DesignateTimeout)
	if o.RetryMaxDelay < o.RetryBaseDelay {
		faults = append(faults, fmt.Errorf("--%s must be as long as --%s (%s) or longer, and is %s",
			flagRetryMaxDelay, flagRetryBaseDelay, o.RetryBaseDelay, o.RetryMaxDelay))
	}
	// Put this way round, the comparison refuses NaN too.
	if !(o.RetryQPS > 0) {
		faults = append(faults, fmt.Errorf("--%s must be more than 0, and is %v", flagRetryQPS, o.RetryQPS))
	}
	return errors.Join(faults...)
}
