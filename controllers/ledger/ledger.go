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
	"slices"

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
}

// formatVersion is the version of the format that this code writes and understands.
const formatVersion = 1

// RemovalPhase is how far the removal of a pool is.
type RemovalPhase string

const (
	// Withdrawing means that the point of no return is passed, and pools.yaml may still hold the pool.
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
	// Removal is empty until the point of no return.
	Removal RemovalPhase `json:"removal,omitempty"`
	// Servers by ordinal: those that are wanted, and those that have not left yet.
	Servers []Server `json:"servers,omitempty"`
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

// Removing says that the pool is past the point of no return.
func (p *Pool) Removing() bool { return p.Removal != "" }

// listed says whether pools.yaml names a server of the pool.
func (p *Pool) listed() bool { return slices.ContainsFunc(p.Servers, Server.Listed) }

// wanted says whether the accepted spec asks for the server.
func (p *Pool) wanted(ordinal int32) bool { return ordinal < p.Accepted.BINDReplicas }

// Open says whether the client Service of a server leads to it. A server that is to leave is closed to clients first,
// but not before one that stays has joined, unless none is to stay.
func (p *Pool) Open(ordinal int32) bool {
	server := p.Server(ordinal)
	if server == nil || !server.Joined || p.Removal == Withdrawn {
		return false
	}
	return p.wanted(ordinal) || (p.Accepted.BINDReplicas > 0 && !p.staying(func(s Server) bool { return s.Joined }))
}

// Replicas is how many servers the StatefulSet has to run: those that are wanted, and those that have not left yet.
func (p *Pool) Replicas() int32 {
	if p.Removal == Withdrawn {
		return 0
	}
	replicas := p.Accepted.BINDReplicas
	for _, server := range p.Servers {
		// Listed is not enough: a pool scaled to 0 keeps its last servers in pools.yaml, without running them.
		if server.Joined {
			replicas = max(replicas, server.Ordinal+1)
		}
	}
	return replicas
}

// Targets are the servers that pools.yaml has to name. A server leaves once it is to be closed to clients, and is. A pool
// whose servers would all leave keeps its last ones, for an empty list hangs Designate's worker.
func (p *Pool) Targets(clientOpen func(ordinal int32) bool) []Server {
	if p.Removing() {
		return nil
	}
	var listed, staying []Server
	for _, server := range p.Servers {
		if !server.Listed() {
			continue
		}
		listed = append(listed, server)
		if p.wanted(server.Ordinal) || clientOpen(server.Ordinal) || p.Open(server.Ordinal) {
			staying = append(staying, server)
		}
	}
	if len(staying) == 0 || p.Accepted.BINDReplicas == 0 {
		return listed
	}
	return staying
}

// staying says whether one of the servers that are wanted has a property.
func (p *Pool) staying(has func(Server) bool) bool {
	return slices.ContainsFunc(p.Servers, func(s Server) bool { return p.wanted(s.Ordinal) && has(s) })
}

// sort puts everything in the order in which it is written.
func (l *Ledger) sort() {
	slices.SortFunc(l.Pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.UID, b.UID))
	})
	for i := range l.Pools {
		slices.SortFunc(l.Pools[i].Servers, func(a, b Server) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	}
}

// DeepCopy is a copy that shares nothing with the original.
func (l *Ledger) DeepCopy() *Ledger {
	result := *l
	result.Pools = slices.Clone(l.Pools)
	for i := range result.Pools {
		result.Pools[i].Accepted = *l.Pools[i].Accepted.DeepCopy()
		result.Pools[i].Servers = slices.Clone(l.Pools[i].Servers)
	}
	return &result
}
