// Package ledger is the record of what must survive the loss of every status: which index, id and RNDC key numbers a
// pool holds, which of its servers pools.yaml names and which have joined, and how far its removal is.
//
// It lives in the ConfigMap designate-pool-ledger. The aggregator alone writes it, and reads it from the API server each
// time; others read it from their caches, which is safe because an entry belongs to a UID and its numbers never change.
//
// How it changes is decided by pure functions: Plan, before pools.yaml is written, and Settle, after.
package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Ledger is the record of one namespace.
type Ledger struct {
	// Version of this format.
	Version int `json:"version"`
	// Mode that is in force; empty before it is settled.
	Mode v1alpha1.Mode `json:"mode,omitempty"`
	// Pools by index.
	Pools []Pool `json:"pools,omitempty"`
	// LastRun is the number of the newest pool update that was ever begun, Run the one that has not ended yet.
	LastRun int32 `json:"lastRun,omitempty"`
	Run     *Run  `json:"run,omitempty"`
	// Restart is the run after which Designate's workers are being restarted, 0 while they are not; RestartBegan is since when
	// they are, and RestartEnded when the last restart was over (RFC 3339).
	Restart      int32        `json:"restart,omitempty"`
	RestartBegan *metav1.Time `json:"restartBegan,omitempty"`
	RestartEnded *metav1.Time `json:"restartEnded,omitempty"`
}

// formatVersion is the version of the format that this code writes and understands.
const formatVersion = 1

// RemovalPhase is how far the removal of a pool is.
type RemovalPhase string

const (
	// Deleting means that the point of no return is passed, and Designate is to delete the pool. Everything of it still works.
	Deleting RemovalPhase = "Deleting"
	// Deleted means that Designate has no pool of that id any more. Whether a zone slipped in before is not known yet.
	Deleted RemovalPhase = "Deleted"
	// Withdrawing means that no zone is left that could want the pool, and pools.yaml may still hold it.
	Withdrawing RemovalPhase = "Withdrawing"
	// Withdrawn means that pools.yaml does not hold the pool any more, so its servers may go.
	Withdrawn RemovalPhase = "Withdrawn"
)

// Pool is the entry of one DesignatePool.
type Pool struct {
	// UID of the DesignatePool: the identity of the entry.
	UID types.UID `json:"uid"`
	// Object is the name of the DesignatePool, Name the pool's in Designate, ID its id there.
	Object string `json:"object"`
	Name   string `json:"name"`
	ID     string `json:"id"`
	// Index numbers the pool's objects, for life.
	Index int32 `json:"index"`
	// Accepted is the last spec that was valid; it stays in force while a later one is not.
	Accepted v1alpha1.DesignatePoolSpec `json:"accepted"`
	// Removal is empty until the point of no return, and again when zones turn out to have been made meanwhile.
	Removal RemovalPhase `json:"removal,omitempty"`
	// Deletion is how the pool's deletion in Designate goes on; nil before it was ever tried.
	Deletion *Deletion `json:"deletion,omitempty"`
	// Vanished is when the DesignatePool was first seen to be gone without having been removed (RFC 3339).
	Vanished *metav1.Time `json:"vanished,omitempty"`
	// Servers by ordinal: those that are wanted, and those that have not left yet.
	Servers []Server `json:"servers,omitempty"`
	// Former are the default pool's servers in the mode before, while the pool moves to the present one; nil when it does not.
	Former *Former `json:"former,omitempty"`
	// Applied is what the operator has told Designate of the pool; nil before, and while people apply pools.yaml.
	Applied *Applied `json:"applied,omitempty"`
}

// Deletion is how the deletion of a pool in Designate goes on.
type Deletion struct {
	// Attempt counts the points of no return, and Began is when the last one was (RFC 3339).
	Attempt int32        `json:"attempt,omitempty"`
	Began   *metav1.Time `json:"began,omitempty"`
	// Ended is when Designate had said that it has no such pool (RFC 3339); nil before.
	Ended *metav1.Time `json:"ended,omitempty"`
	// Refused is when zones were last found to be in the pool after the point of no return, and Refusals how many times in a
	// row. Only a listing that began after that lets it pass the gate again.
	Refused  *metav1.Time `json:"refused,omitempty"`
	Refusals int32        `json:"refusals,omitempty"`
}

// Applied is what Designate knows of a pool, as far as Jobs of the operator have told it.
type Applied struct {
	// Entry is the hash of the pool's entry in the last pool update that succeeded; empty before there is one.
	Entry string `json:"entry,omitempty"`
	// Targets is the hash of the servers in that entry.
	Targets string `json:"targets,omitempty"`
	// Workers is the hash of the servers that every worker of Designate knows, Restarting that of those which the workers
	// know once the restart has ended that is under way.
	Workers    string `json:"workers,omitempty"`
	Restarting string `json:"restarting,omitempty"`
	// Failures is how many pool updates with the pool have failed in a row, Failed the hash of its entry in the last of them,
	// Failure what people are told of it, and RetryAt when it may be tried again (RFC 3339).
	Failures int32        `json:"failures,omitempty"`
	Failed   string       `json:"failed,omitempty"`
	Failure  string       `json:"failure,omitempty"`
	RetryAt  *metav1.Time `json:"retryAt,omitempty"`
	// HeldSince is since when zones that are being deleted keep the pool from being applied (RFC 3339).
	HeldSince *metav1.Time `json:"heldSince,omitempty"`
}

// Run is a pool update that has begun, and of which nobody knows yet how it ended.
type Run struct {
	// Number names the Job and its input, and is never used twice.
	Number int32 `json:"number"`
	// Pools are those in its input.
	Pools []RunPool `json:"pools"`
}

// RunPool is a pool in the input of a pool update.
type RunPool struct {
	UID types.UID `json:"uid"`
	// Entry and Targets are the hashes that Applied takes over when the run succeeds.
	Entry   string `json:"entry"`
	Targets string `json:"targets"`
	// Fills are the servers that have all zones once the run has been worked off, each with what Server.Filled becomes.
	Fills []Fill `json:"fills,omitempty"`
}

// Fill is a server that a pool update fills.
type Fill struct {
	Ordinal int32  `json:"ordinal"`
	Token   string `json:"token"`
}

// Server is the entry of one BIND server.
type Server struct {
	Ordinal int32 `json:"ordinal"`
	// RNDCKey numbers the server's key, for life.
	RNDCKey int32 `json:"rndcKey"`
	// Address under which pools.yaml names the server; empty while it does not.
	Address string `json:"address,omitempty"`
	// Joined says that the server may be asked by clients.
	Joined bool `json:"joined,omitempty"`
	// Filled tells which empty claim a pool update has filled last, and with which configuration, and FilledAt when (RFC 3339).
	Filled   string       `json:"filled,omitempty"`
	FilledAt *metav1.Time `json:"filledAt,omitempty"`
	// Rebuilding is the UID of the claim that the server has to lose before it may join again; empty when it has none to lose.
	Rebuilding types.UID `json:"rebuilding,omitempty"`
}

// Listed says whether pools.yaml names the server.
func (s Server) Listed() bool { return s.Address != "" }

// Pool finds the entry of a DesignatePool.
func (l *Ledger) Pool(uid types.UID) *Pool {
	for i := range l.Pools {
		if l.Pools[i].UID == uid {
			return &l.Pools[i]
		}
	}
	return nil
}

// Server finds the entry of a server.
func (p *Pool) Server(ordinal int32) *Server {
	for i := range p.Servers {
		if p.Servers[i].Ordinal == ordinal {
			return &p.Servers[i]
		}
	}
	return nil
}

// Rebuild has a server leave its clients, lose its claim, be filled anew and join again.
func (p *Pool) Rebuild(ordinal int32, claim types.UID) {
	if server := p.Server(ordinal); server != nil {
		server.Rebuilding, server.Joined, server.Filled, server.FilledAt = claim, false, "", nil
	}
}

// KnownToWorkers says that Designate and all its workers know the servers of the pool, as far as the operator told them.
func (p *Pool) KnownToWorkers() bool {
	return p.Applied != nil && p.Applied.Entry != "" && p.Applied.Targets == p.Applied.Workers
}

// RestartToken marks the workers that have been started since the restart began that is under way; empty when none is. No
// other restart has the same, also of a ledger that was lost.
func (l *Ledger) RestartToken() string {
	if l.Restart == 0 || l.RestartBegan == nil {
		return ""
	}
	return fmt.Sprintf("%d-%d", l.Restart, l.RestartBegan.Unix())
}

// Removing says that the pool is past the point of no return.
func (p *Pool) Removing() bool { return p.Removal != "" }

// Leaving says that pools.yaml is not to hold the pool any more.
func (p *Pool) Leaving() bool { return p.Removal == Withdrawing || p.Removal == Withdrawn }

// DeletionToken marks the attempt to delete the pool in Designate that goes on; empty when none does. No other attempt has the
// same, also of a ledger that was lost.
func (p *Pool) DeletionToken() string {
	if p.Removal != Deleting || p.Deletion == nil || p.Deletion.Began == nil {
		return ""
	}
	return fmt.Sprintf("%s-%d-%d", p.UID, p.Deletion.Attempt, p.Deletion.Began.Unix())
}

// Applying says that a pool update with the pool may be under way.
func (l *Ledger) Applying(uid types.UID) bool {
	return l.Run != nil && slices.ContainsFunc(l.Run.Pools, func(p RunPool) bool { return p.UID == uid })
}

// listed says whether pools.yaml names a server of the pool.
func (p *Pool) listed() bool {
	return slices.ContainsFunc(p.Servers, Server.Listed) || slices.ContainsFunc(p.FormerServers(), Server.Listed)
}

// wanted says whether the accepted spec asks for the server.
func (p *Pool) wanted(ordinal int32) bool { return ordinal < p.Accepted.BINDReplicas }

// Open says whether the client Service of a server leads to it. A server that is to leave is closed to clients first,
// but not before one that stays has joined, unless none is to stay.
func (p *Pool) Open(ordinal int32) bool {
	server := p.Server(ordinal)
	if server == nil || !server.Joined || p.Removal == Withdrawn {
		return false
	}
	return p.wanted(ordinal) || p.keepsUnwanted()
}

// keepsUnwanted says that clients are led on to servers that are not wanted any more, because none that is has joined.
func (p *Pool) keepsUnwanted() bool {
	return p.Accepted.BINDReplicas > 0 && !slices.ContainsFunc(p.Servers, func(s Server) bool { return p.wanted(s.Ordinal) && s.Joined })
}

// Replicas is how many servers the StatefulSet has to run: those that are wanted, and those that have not left yet.
func (p *Pool) Replicas() int32 {
	if p.Removal == Withdrawn {
		return 0
	}
	replicas := p.Accepted.BINDReplicas
	for _, server := range p.Servers {
		if p.runs(&server) {
			replicas = max(replicas, server.Ordinal+1)
		}
	}
	return replicas
}

// runs says that a server, wanted or not, may be asked by clients or by Designate. A pool scaled to 0 keeps its last servers in
// pools.yaml, without running them. A server that is to be rebuilt may not have been closed to clients yet.
func (p *Pool) runs(server *Server) bool {
	return server.Joined || server.Rebuilding != "" || (server.Listed() && p.Accepted.BINDReplicas > 0)
}

// Led says whether a client Service leads to a server of an ordinal, the present or the former one.
type Led func(ordinal int32, former bool) bool

// Targets are the servers that pools.yaml has to name. A server leaves once it is to be closed to clients, and is. A pool
// whose servers would all leave keeps its last ones, for an empty list hangs Designate's worker.
func (p *Pool) Targets(led Led) []Server {
	if p.Leaving() {
		return nil
	}
	var listed, staying []Server
	add := func(server Server, stays bool) {
		if server.Listed() {
			listed = append(listed, server)
			if stays {
				staying = append(staying, server)
			}
		}
	}
	for _, server := range p.Servers {
		add(server, p.wanted(server.Ordinal) || led(server.Ordinal, false) || p.Open(server.Ordinal))
	}
	for _, server := range p.FormerServers() {
		add(server, led(server.Ordinal, true) || p.FormerOpen(server.Ordinal))
	}
	if len(staying) == 0 || p.Accepted.BINDReplicas == 0 {
		return listed
	}
	return staying
}

// names says whether a server is among targets.
func names(targets []Server, server *Server) bool {
	return slices.ContainsFunc(targets, func(t Server) bool { return t.Address == server.Address })
}

// At is a time as the ledger has it, in whole seconds, and never before the time itself.
func At(t time.Time) *metav1.Time {
	whole := metav1.NewTime(t.Truncate(time.Second).UTC())
	if whole.Time.Before(t) {
		whole.Time = whole.Add(time.Second)
	}
	return &whole
}

// sort puts everything in the order in which it is written.
func (l *Ledger) sort() {
	slices.SortFunc(l.Pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.UID, b.UID))
	})
	byOrdinal := func(a, b Server) int { return cmp.Compare(a.Ordinal, b.Ordinal) }
	for i := range l.Pools {
		slices.SortFunc(l.Pools[i].Servers, byOrdinal)
		slices.SortFunc(l.Pools[i].FormerServers(), byOrdinal)
	}
}

// DeepCopy is a copy that shares nothing with the original.
func (l *Ledger) DeepCopy() *Ledger {
	result := *l
	result.Pools = slices.Clone(l.Pools)
	for i := range result.Pools {
		pool := &result.Pools[i]
		pool.Accepted = *pool.Accepted.DeepCopy()
		pool.Servers = copied(pool.Servers)
		if pool.Former != nil {
			pool.Former = &Former{Mode: pool.Former.Mode, Servers: copied(pool.Former.Servers)}
		}
		pool.Vanished = pool.Vanished.DeepCopy()
		if pool.Deletion != nil {
			deletion := *pool.Deletion
			deletion.Began, deletion.Ended = deletion.Began.DeepCopy(), deletion.Ended.DeepCopy()
			deletion.Refused = deletion.Refused.DeepCopy()
			pool.Deletion = &deletion
		}
		if pool.Applied != nil {
			applied := *pool.Applied
			applied.RetryAt, applied.HeldSince = applied.RetryAt.DeepCopy(), applied.HeldSince.DeepCopy()
			pool.Applied = &applied
		}
	}
	if l.Run != nil {
		run := Run{Number: l.Run.Number, Pools: slices.Clone(l.Run.Pools)}
		for i := range run.Pools {
			run.Pools[i].Fills = slices.Clone(run.Pools[i].Fills)
		}
		result.Run = &run
	}
	result.RestartBegan, result.RestartEnded = l.RestartBegan.DeepCopy(), l.RestartEnded.DeepCopy()
	return &result
}

func copied(servers []Server) []Server {
	result := slices.Clone(servers)
	for i := range result {
		result[i].FilledAt = result[i].FilledAt.DeepCopy()
	}
	return result
}
