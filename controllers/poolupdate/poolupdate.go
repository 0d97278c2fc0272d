// Package poolupdate decides when the operator applies pools.yaml to Designate, and when it restarts Designate's workers.
// It is pure: facts in, ledger and next step out.
//
// `designate-manage pool update` rewrites every zone of every pool in its input, so only pools that have changed are in one,
// and nothing is run for nothing. Workers read a pool's servers once, when they start. So a change of servers takes a run,
// a restart of all workers, and, where a server came up empty, a second run, which has the workers put every zone on it; any
// other change takes one run.
package poolupdate

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

// Facts are what a step is decided from.
type Facts struct {
	Now time.Time
	// Settle is how long pools have to stay as they are before they are applied.
	Settle time.Duration
	// Pools are those that pools.yaml holds, in its order.
	Pools []Pool
}

// Pool is one pool as it is to be applied.
type Pool struct {
	UID types.UID
	// Entry and Targets are the hashes of its entry and of the servers in it.
	Entry, Targets string
	// Since is when it was first seen to be like this.
	Since time.Time
	// Obstacle is why it must not be applied now.
	Obstacle *Obstacle
	// Deleting is how many of its zones are being deleted.
	Deleting int
	// Empty are the servers that have to be filled, each with what Server.Filled is to become.
	Empty []ledger.Fill
	// NoZonesSince is when a listing began that found no zone in the pool; zero when zones are there or nobody knows.
	NoZonesSince time.Time
}

// Obstacle is the reason and message of a condition.
type Obstacle struct{ Reason, Message string }

// Outcome is how a run ended.
type Outcome struct {
	Succeeded bool
	// Failure is what people are told when it did not.
	Failure string
}

// Step is what is to be done next. At most one of Run and Restart is set.
type Step struct {
	// Run is a pool update to begin. Ledger has it already, without its input.
	Run *ledger.Run
	// Restart says that the workers are to be restarted for the run Ledger.Restart.
	Restart bool
	// Undone are the pools in Run that had zones which were being deleted.
	Undone []types.UID
	// Wait is when to look again without an event; never when 0.
	Wait time.Duration
}

const (
	// HeldFor is how long zones that are being deleted keep a pool from being applied.
	HeldFor = 10 * time.Minute
	// firstRetry is the wait after a run of one pool has failed; it doubles with each further one.
	firstRetry   = 15 * time.Second
	longestRetry = 10 * time.Minute
	// patience is by how many settle times pools that do not come to rest are applied all the same.
	patience = 6
)
