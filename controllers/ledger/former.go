package ledger

import (
	"slices"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Former are servers of the default pool in the mode that was in force before. Each goes on serving clients until the one of its
// ordinal in the present mode does, and leaves as a server that is scaled away does. The two have one key.
//
// When the mode changes again before that, former and present servers change places, each with what it had reached.
type Former struct {
	// Mode in which they were made.
	Mode v1alpha1.Mode `json:"mode"`
	// Servers by ordinal, until they have left.
	Servers []Server `json:"servers"`
}

// enter has another mode come into force. The default pool is the only one whose objects are named for the mode.
func (l *Ledger) enter(mode v1alpha1.Mode) {
	if l.Mode != "" && l.Mode != mode {
		for i := range l.Pools {
			if pool := &l.Pools[i]; pool.Name == v1alpha1.DefaultPoolName {
				pool.move(l.Mode)
				l.dropFills(pool)
			}
		}
	}
	l.Mode = mode
}

// move has the present servers become former ones, and the former ones, if there are any, the present ones.
func (p *Pool) move(from v1alpha1.Mode) {
	present, former := p.Servers, p.Former
	p.Servers, p.Former = nil, nil
	if former != nil {
		p.Servers = former.Servers
	}
	if len(present) > 0 {
		p.Former = &Former{Mode: from, Servers: present}
	}
}

// dropFills forgets which servers of a pool the pool update fills that goes on: those of that ordinal are others now.
func (l *Ledger) dropFills(pool *Pool) {
	if l.Run == nil {
		return
	}
	for i := range l.Run.Pools {
		if l.Run.Pools[i].UID == pool.UID {
			l.Run.Pools[i].Fills = nil
		}
	}
}

// FormerServers are the servers of the mode before that have not left yet.
func (p *Pool) FormerServers() []Server {
	if p.Former == nil {
		return nil
	}
	return p.Former.Servers
}

// FormerServer finds the entry of a former server.
func (p *Pool) FormerServer(ordinal int32) *Server {
	for i := range p.FormerServers() {
		if p.Former.Servers[i].Ordinal == ordinal {
			return &p.Former.Servers[i]
		}
	}
	return nil
}

// FormerOpen says whether the client Service of an ordinal leads to its former server: until the present one has joined, or, where none
// of that ordinal is wanted, any other.
func (p *Pool) FormerOpen(ordinal int32) bool {
	server := p.FormerServer(ordinal)
	if server == nil || !server.Joined || p.Removal == Withdrawn || p.Open(ordinal) {
		return false
	}
	return p.wanted(ordinal) || p.keepsUnwanted()
}

// FormerReplicas is how many servers the StatefulSet of the mode before has to run: those that clients or Designate are led to.
func (p *Pool) FormerReplicas() int32 {
	var replicas int32
	for _, server := range p.FormerServers() {
		if p.Removal != Withdrawn && p.runs(&server) {
			replicas = max(replicas, server.Ordinal+1)
		}
	}
	return replicas
}

// recoverFormer enters the servers of the other mode that exist without a ledger that knows of them.
func (p *Pool) recoverFormer(facts *PoolFacts, present v1alpha1.Mode, taken []int32) []int32 {
	ordinals := max(highestOrdinal(facts.Former)+1, facts.FormerReplicas)
	if p.Name != v1alpha1.DefaultPoolName || ordinals == 0 {
		return taken
	}
	p.Former = &Former{Mode: other(present)}
	for ordinal := range ordinals {
		server := newServer(ordinal, facts.Former[ordinal], taken)
		if present := p.Server(ordinal); present != nil {
			server.RNDCKey = present.RNDCKey
		}
		taken = append(taken, server.RNDCKey)
		p.Former.Servers = append(p.Former.Servers, server)
	}
	return taken
}

// listFormer takes over the addresses of former servers that have changed. None of them enters pools.yaml anew.
func (p *Pool) listFormer(facts *PoolFacts) {
	for i := range p.FormerServers() {
		server := &p.Former.Servers[i]
		if address := facts.Former[server.Ordinal].Address; server.Listed() && address != "" {
			server.Address = address
		}
	}
}

// settleFormer lets go of former servers.
func (p *Pool) settleFormer(facts *PoolFacts, targets []Server) {
	if p.Former == nil {
		return
	}
	for i := range p.Former.Servers {
		server := &p.Former.Servers[i]
		if facts.Former[server.Ordinal].ClientOpen || p.FormerOpen(server.Ordinal) {
			continue
		}
		p.release(server, names(targets, server), facts.Programmed)
	}
	p.Former.Servers = slices.DeleteFunc(p.Former.Servers, func(server Server) bool {
		return !server.Listed() && !server.Joined &&
			facts.FormerReplicas <= server.Ordinal && !facts.Former[server.Ordinal].PodExists
	})
	if len(p.Former.Servers) == 0 {
		p.Former = nil
	}
}

// other is the mode that a mode is not.
func other(mode v1alpha1.Mode) v1alpha1.Mode {
	if mode == v1alpha1.SinglePool {
		return v1alpha1.MultiPool
	}
	return v1alpha1.SinglePool
}
