package ledger

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// Facts are what is known of a namespace when a ledger is planned.
type Facts struct {
	// Mode that is to be in force, as NextMode has it.
	Mode v1alpha1.Mode
	// Pools in the order in which they are given indexes.
	Pools []PoolFacts
	// Gone are the UIDs of entries whose DesignatePool, and everything that bears its UID, is certain not to exist.
	Gone []types.UID
	// ReservedIndexes and ReservedKeys are in use by objects that belong to no pool in Pools.
	ReservedIndexes, ReservedKeys []int32
}

// PoolFacts are what is known of one DesignatePool, or of what a vanished one has left.
type PoolFacts struct {
	UID          types.UID
	Object, Name string
	// ID is the pool's id in Designate as long as pools.yaml has not named the pool. IDUnknown says that Designate, which may
	// have the pool under another one, has not been asked: the pool does not enter pools.yaml before it has.
	ID        string
	IDUnknown bool
	// Accepted is the spec if it is valid and holds its name, else nil.
	Accepted *v1alpha1.DesignatePoolSpec
	// Index is the one that the pool's existing objects bear.
	Index *int32
	// Servers that exist in the mode that is to be in force, by ordinal.
	Servers map[int32]ServerFacts
	// Replicas is what the pool's StatefulSet is told to run; 0 without one.
	Replicas int32
	// Former and FormerReplicas are the same of the default pool in the other mode.
	Former         map[int32]ServerFacts
	FormerReplicas int32
	// Programmed says that Designate and its workers know the pool as pools.yaml has it, or that people see to that.
	Programmed bool
}

// ServerFacts are what is known of one server.
type ServerFacts struct {
	// Address of its control Service.
	Address string
	// RNDCKey is the number that its control Service bears; 0 when unknown.
	RNDCKey int32
	// InPoolsYAML says that pools.yaml names the address.
	InPoolsYAML bool
	// Ready says that its containers are ready.
	Ready bool
	// MayJoin says that clients can be led to it: as far as anybody can know, it answers for every zone of its pool.
	MayJoin bool
	// ClientOpen says that its client Service leads to it.
	ClientOpen bool
	// PodExists says that it has a pod, in whatever state.
	PodExists bool
	// Claim is the UID of its claim; empty without one.
	Claim types.UID
}

// Plan is the ledger that follows from an older one and the facts. It may be written at once: nothing in it gives up a
// name, number or server that something may still rely on.
//
// An empty ledger is planned from what exists: objects bear the numbers that they were made under.
func Plan(old *Ledger, facts Facts) *Ledger {
	next := old.DeepCopy()
	next.Version = formatVersion
	next.Pools = slices.DeleteFunc(next.Pools, func(p Pool) bool { return slices.Contains(facts.Gone, p.UID) })
	next.enter(facts.Mode)
	var added []types.UID
	for i := range facts.Pools {
		if next.addPool(&facts.Pools[i], facts.ReservedIndexes) {
			added = append(added, facts.Pools[i].UID)
		}
	}
	next.sort()
	for _, pool := range facts.Pools {
		if entry := next.Pool(pool.UID); entry != nil {
			entry.update(&pool)
		}
	}
	next.addServers(facts, added)
	for _, pool := range facts.Pools {
		if entry := next.Pool(pool.UID); entry != nil && !entry.Removing() && (!pool.IDUnknown || entry.listed()) {
			entry.list(&pool)
		}
	}
	next.sort()
	return next
}

// Settle is the ledger that follows once pools.yaml has been seen to hold what Targets says: servers that neither it nor
// Designate names any more may stop, and so may those of withdrawn pools that no pool update can bring back.
func Settle(planned *Ledger, facts Facts) *Ledger {
	next := planned.DeepCopy()
	for i := range next.Pools {
		entry := &next.Pools[i]
		if entry.Removal == Withdrawing && !next.Applying(entry.UID) {
			entry.Removal = Withdrawn
		}
		if pool, known := facts.Pool(entry.UID); known && !entry.Removing() {
			entry.settle(pool)
		}
	}
	return next
}

// NextMode is the mode that is to be in force. wanted is what the configuration asks for, empty when it says nothing that
// can be relied on; deployed is the mode in which the default pool's StatefulSet exists, which counts only when the
// ledger knows no mode.
func (l *Ledger) NextMode(wanted, deployed v1alpha1.Mode) v1alpha1.Mode {
	switch {
	case l.Mode == "" && deployed != "":
		return deployed
	case wanted == "" || (wanted == v1alpha1.SinglePool && l.hasOtherPools()) || l.defaultLeaves():
		return l.Mode
	default:
		return wanted
	}
}

// hasOtherPools says that something is left of a pool besides the default one.
func (l *Ledger) hasOtherPools() bool {
	return slices.ContainsFunc(l.Pools, func(p Pool) bool { return p.Name != v1alpha1.DefaultPoolName })
}

// defaultLeaves says that a default pool is past the point of no return.
func (l *Ledger) defaultLeaves() bool {
	return slices.ContainsFunc(l.Pools, func(p Pool) bool { return p.Name == v1alpha1.DefaultPoolName && p.Removing() })
}

// addPool gives a pool an entry, if it may have one and has none. Pools besides the default one get theirs in MultiPool
// mode only. It says whether it gave one.
func (l *Ledger) addPool(pool *PoolFacts, reserved []int32) bool {
	isDefault := pool.Name == v1alpha1.DefaultPoolName
	if l.Pool(pool.UID) != nil || pool.Accepted == nil || l.Mode == "" || (!isDefault && l.Mode != v1alpha1.MultiPool) {
		return false
	}
	entry := Pool{UID: pool.UID, Object: pool.Object, Name: pool.Name, ID: pool.ID, Accepted: *pool.Accepted.DeepCopy()}
	switch {
	case isDefault:
		entry.Index = 0
	case pool.Index != nil && !l.indexTaken(*pool.Index):
		entry.Index = *pool.Index
	default:
		entry.Index = 1
		for l.indexTaken(entry.Index) || slices.Contains(reserved, entry.Index) {
			entry.Index++
		}
	}
	l.Pools = append(l.Pools, entry)
	return true
}

func (l *Ledger) indexTaken(index int32) bool {
	return slices.ContainsFunc(l.Pools, func(p Pool) bool { return p.Index == index })
}

// update takes over what may have changed of a pool that has an entry.
func (p *Pool) update(facts *PoolFacts) {
	if p.Removing() {
		return
	}
	// Of the default pool Designate's configuration says which, always.
	if p.Name == v1alpha1.DefaultPoolName || (!facts.IDUnknown && !p.listed()) {
		p.ID = facts.ID
	}
	if facts.Accepted != nil {
		p.Accepted = *facts.Accepted.DeepCopy()
	}
}

// addServers gives every wanted server an entry with a key number: the one that its control Service bears, else the
// lowest free one, in the order of pools and ordinals. Of pools in added, which had no entry, everything that exists is
// entered, wanted or not, so that it leaves in order.
func (l *Ledger) addServers(facts Facts, added []types.UID) {
	taken := slices.Clone(facts.ReservedKeys)
	for i := range l.Pools {
		for _, server := range slices.Concat(l.Pools[i].Servers, l.Pools[i].FormerServers()) {
			taken = append(taken, server.RNDCKey)
		}
	}
	// What exists keeps its numbers before anything new is given one.
	taken = l.enterServers(facts, added, true, taken)
	for i := range l.Pools {
		if pool, known := facts.Pool(l.Pools[i].UID); known && slices.Contains(added, pool.UID) {
			taken = l.Pools[i].recoverFormer(&pool, l.Mode, taken)
		}
	}
	l.enterServers(facts, added, false, taken)
}

// enterServers enters the servers that exist, or those that do not, and returns the keys that are taken then.
func (l *Ledger) enterServers(facts Facts, added []types.UID, existing bool, taken []int32) []int32 {
	for i := range l.Pools {
		entry := &l.Pools[i]
		if entry.Removing() {
			continue
		}
		pool, _ := facts.Pool(entry.UID)
		ordinals := entry.Accepted.BINDReplicas
		if slices.Contains(added, entry.UID) {
			ordinals = max(ordinals, highestOrdinal(pool.Servers)+1)
		}
		for ordinal := range ordinals {
			server, exists := pool.Servers[ordinal]
			if entry.Server(ordinal) != nil || existing != exists || (!exists && !entry.wanted(ordinal)) {
				continue
			}
			newEntry := newServer(ordinal, server, taken)
			if former := entry.FormerServer(ordinal); former != nil {
				newEntry.RNDCKey = former.RNDCKey
			}
			taken = append(taken, newEntry.RNDCKey)
			entry.Servers = append(entry.Servers, newEntry)
		}
	}
	return taken
}

func newServer(ordinal int32, facts ServerFacts, taken []int32) Server {
	server := Server{Ordinal: ordinal, RNDCKey: facts.RNDCKey}
	if server.RNDCKey < 1 || slices.Contains(taken, server.RNDCKey) {
		server.RNDCKey = 1
		for slices.Contains(taken, server.RNDCKey) {
			server.RNDCKey++
		}
	}
	if facts.InPoolsYAML || facts.ClientOpen {
		server.Address = facts.Address
		server.Joined = facts.ClientOpen
	}
	return server
}

// list enters servers that have become ready into pools.yaml, where they stay whether ready or not, and lets them join.
func (p *Pool) list(facts *PoolFacts) {
	for i := range p.Servers {
		server := &p.Servers[i]
		seen := facts.Servers[server.Ordinal]
		wanted := p.wanted(server.Ordinal)
		if seen.Address == "" || (!server.Listed() && (!seen.Ready || !wanted)) {
			continue
		}
		server.Address = seen.Address
		if server.Rebuilding != "" && (seen.Claim == "" || seen.Claim == server.Rebuilding) {
			continue // It has not lost its claim yet.
		}
		server.Joined = server.Joined || (seen.MayJoin && wanted)
		if server.Joined {
			server.Rebuilding = ""
		}
	}
	p.listFormer(facts)
}

// settle lets go of what neither pools.yaml nor Designate names any more.
func (p *Pool) settle(facts PoolFacts) {
	targets := p.Targets(facts.Led)
	for i := range p.Servers {
		server := &p.Servers[i]
		if !p.inUse(server.Ordinal, &facts) {
			p.release(server, names(targets, server), facts.Programmed)
		}
	}
	p.settleFormer(&facts, targets)
	// An entry, and with it the key, stays as long as the server may come back without having stopped.
	p.Servers = slices.DeleteFunc(p.Servers, func(server Server) bool {
		return !p.wanted(server.Ordinal) && !server.Listed() && !server.Joined &&
			facts.Replicas <= server.Ordinal && !facts.Servers[server.Ordinal].PodExists
	})
}

// release lets go of a server that is closed to clients. Once pools.yaml does not name it, it misses what Designate does, and would
// have to be filled and to join anew. It runs on until Designate does not name it either. Of a pool scaled to 0, whose last servers stay
// named, being closed is all that there is to wait for.
func (p *Pool) release(server *Server, named, programmed bool) {
	if !named && programmed {
		server.Address = ""
	}
	if !named || p.Accepted.BINDReplicas == 0 {
		server.Joined, server.Filled, server.FilledAt, server.Rebuilding = false, "", nil, ""
	}
}

// inUse says that a server is wanted, or that clients reach it.
func (p *Pool) inUse(ordinal int32, facts *PoolFacts) bool {
	return p.wanted(ordinal) || facts.Servers[ordinal].ClientOpen || p.Open(ordinal)
}

// Pool finds the facts of a pool; known is false of one that has vanished and is in the ledger.
func (f *Facts) Pool(uid types.UID) (pool PoolFacts, known bool) {
	for i := range f.Pools {
		if f.Pools[i].UID == uid {
			return f.Pools[i], true
		}
	}
	return PoolFacts{}, false
}

// Led says whether a client Service leads to a server.
func (p *PoolFacts) Led(ordinal int32, former bool) bool {
	if former {
		return p.Former[ordinal].ClientOpen
	}
	return p.Servers[ordinal].ClientOpen
}

func highestOrdinal(servers map[int32]ServerFacts) int32 {
	highest := int32(-1)
	for ordinal := range servers {
		highest = max(highest, ordinal)
	}
	return highest
}
