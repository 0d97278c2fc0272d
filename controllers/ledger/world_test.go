package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// world is a namespace in miniature: what the aggregator, the pool controller and the StatefulSet controller would make
// of a ledger. Everything in it happens only when a test says so.
type world struct {
	ledger *Ledger
	// wanted is the mode that the configuration asks for.
	wanted v1alpha1.Mode
	// pools in the order in which they appeared, with those whose DesignatePool has vanished.
	pools []*pool
	// named are the addresses in pools.yaml.
	named map[string]bool
	// silent says that Designate does not answer; ids are the pools that it has under other ids than ours, by name.
	silent bool
	ids    map[string]string
	// behind says that Designate is not told of changes in pools.yaml; known are the addresses that it has been told of.
	behind bool
	known  map[string]bool
	// lacking says that servers that have not joined lack zones.
	lacking bool
	// born counts pools and addresses, so that none is ever used twice.
	born int
}

// pool is a DesignatePool and what runs for it.
type pool struct {
	uid      types.UID
	name     string
	spec     v1alpha1.DesignatePoolSpec
	invalid  bool
	withdraw bool
	vanished bool
	// index is the one that the pool's objects bear; nil without any.
	index    *int32
	replicas int32
	services map[int32]*service
	// pods that exist, and whether they are ready.
	pods map[int32]bool
}

// service is the control Service of a server, and whether its client Service leads to it.
type service struct {
	key     int32
	address string
	open    bool
}

func newWorld(mode v1alpha1.Mode) *world {
	return &world{ledger: &Ledger{}, wanted: mode, named: map[string]bool{}, known: map[string]bool{}, ids: map[string]string{}}
}

// pool finds the youngest pool of a name.
func (w *world) pool(name string) *pool {
	for _, p := range slices.Backward(w.pools) {
		if p.name == name {
			return p
		}
	}
	panic("the test has no pool " + name)
}

func (w *world) add(name string, replicas int32) {
	w.born++
	w.pools = append(w.pools, &pool{
		uid:      types.UID(fmt.Sprintf("uid-%03d", w.born)),
		name:     name,
		spec:     v1alpha1.DesignatePoolSpec{PoolName: name, PoolSettings: v1alpha1.PoolSettings{BINDReplicas: replicas}},
		services: map[int32]*service{},
		pods:     map[int32]bool{},
	})
}

func (w *world) address() string {
	w.born++
	return fmt.Sprintf("10.0.0.%d", w.born)
}

// facts are what the aggregator would gather.
func (w *world) facts() Facts {
	facts := Facts{Mode: w.ledger.NextMode(w.wanted, w.deployed())}
	ordered := slices.Clone(w.pools)
	slices.SortStableFunc(ordered, func(a, b *pool) int { return rank(a) - rank(b) })
	for _, p := range ordered {
		switch entry := w.ledger.Pool(p.uid); {
		case p.vanished && !p.remains():
			if entry != nil {
				facts.Gone = append(facts.Gone, p.uid)
			}
		case p.vanished && entry != nil:
			// Nobody asks anything of it any more; its entry stays as it is.
		default:
			facts.Pools = append(facts.Pools, w.poolFacts(p))
			if entry == nil && (p.invalid || !w.holds(p)) {
				for _, s := range p.services {
					facts.ReservedKeys = append(facts.ReservedKeys, s.key)
				}
			}
		}
		if p.index != nil {
			facts.ReservedIndexes = append(facts.ReservedIndexes, *p.index)
		}
	}
	return facts
}

// rank orders the default pool first, then what has an index.
func rank(p *pool) int {
	switch {
	case p.name == v1alpha1.DefaultPoolName:
		return 0
	case p.index != nil:
		return 1
	default:
		return 2
	}
}

func (w *world) deployed() v1alpha1.Mode {
	if slices.ContainsFunc(w.pools, func(p *pool) bool { return p.index != nil }) {
		return w.wanted
	}
	return ""
}

func (w *world) poolFacts(p *pool) PoolFacts {
	facts := PoolFacts{
		UID: p.uid, Object: p.name, Name: p.name, ID: "id-of-" + p.name,
		IDUnknown: w.silent && p.name != v1alpha1.DefaultPoolName, Withdraw: p.withdraw, Replicas: p.replicas, Servers: map[int32]ServerFacts{},
	}
	if id := w.ids[p.name]; id != "" && !w.silent {
		facts.ID = id
	}
	if !p.invalid && w.holds(p) {
		facts.Accepted = p.spec.DeepCopy()
	}
	if p.index != nil {
		index := *p.index
		facts.Index = &index
	}
	for ordinal, s := range p.services {
		ready, exists := p.pods[ordinal]
		facts.Servers[ordinal] = ServerFacts{
			Address: s.address, RNDCKey: s.key, InPoolsYAML: w.named[s.address],
			Ready: ready, MayJoin: ready && !w.lacking, ClientOpen: s.open, PodExists: exists,
		}
	}
	return facts
}

// holds says whether no older pool of the name is left, as package acceptance has it.
func (w *world) holds(p *pool) bool {
	for _, older := range w.pools {
		if older == p {
			return true
		}
		if older.name == p.name && (w.ledger.Pool(older.uid) != nil || !older.vanished || older.remains()) {
			return false
		}
	}
	return true
}

// remains says whether something bears the pool's UID.
func (p *pool) remains() bool { return p.index != nil || len(p.services) > 0 || len(p.pods) > 0 }

// plan is the aggregator up to the point at which it writes pools.yaml.
func (w *world) plan(facts Facts) { w.ledger = Plan(w.ledger, facts) }

// write writes pools.yaml, and settle is the aggregator after that.
func (w *world) write(facts Facts) {
	named := map[string]bool{}
	for i := range w.ledger.Pools {
		for _, target := range w.ledger.Pools[i].Targets(openIn(facts, w.ledger.Pools[i].UID)) {
			named[target.Address] = true
		}
	}
	if len(named) > 0 {
		w.named = named
	}
	if !w.behind {
		w.known = w.named
	}
}

// settle is the aggregator after that. Whether Designate knows a pool it finds out anew.
func (w *world) settle(facts Facts) {
	for i := range facts.Pools {
		facts.Pools[i].Programmed = !w.behind
	}
	w.ledger = Settle(w.ledger, facts)
}

// aggregate is one whole pass of the aggregator.
func (w *world) aggregate() {
	facts := w.facts()
	w.plan(facts)
	w.write(facts)
	w.settle(facts)
}

// deploy is one pass of the pool controller.
func (w *world) deploy(p *pool) {
	entry := w.ledger.Pool(p.uid)
	switch {
	case entry == nil || (p.vanished && entry.Removal != Withdrawn):
		return
	case entry.Removal == Withdrawn:
		p.replicas = 0
		if len(p.pods) == 0 {
			p.index, p.services, p.vanished = nil, map[int32]*service{}, true
		}
		return
	}
	index := entry.Index
	p.index, p.replicas = &index, entry.Replicas()
	maps.DeleteFunc(p.services, func(ordinal int32, _ *service) bool { return entry.Server(ordinal) == nil })
	for _, server := range entry.Servers {
		s := p.services[server.Ordinal]
		if s == nil {
			s = &service{address: w.address()}
			p.services[server.Ordinal] = s
		}
		s.key, s.open = server.RNDCKey, entry.Open(server.Ordinal)
	}
}

// schedule is one pass of the StatefulSet controller: pods appear, not ready yet, and surplus ones stop.
func (p *pool) schedule() {
	maps.DeleteFunc(p.pods, func(ordinal int32, _ bool) bool { return ordinal >= p.replicas })
	for ordinal := range p.replicas {
		if _, exists := p.pods[ordinal]; !exists {
			p.pods[ordinal] = false
		}
	}
}

// rest lets the controllers run until nothing changes any more.
func (w *world) rest() {
	for range 12 {
		w.aggregate()
		for _, p := range w.pools {
			w.deploy(p)
			p.schedule()
		}
	}
}

// lose loses the ledger.
func (w *world) lose() { w.ledger = &Ledger{} }

func openIn(facts Facts, uid types.UID) func(int32) bool {
	known, _ := facts.Pool(uid)
	return func(ordinal int32) bool { return known.Servers[ordinal].ClientOpen }
}

// String is the ledger in a compact form, with what follows from it for each pool.
func (w *world) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "  mode %s\n", w.ledger.Mode)
	facts := w.facts()
	for i := range w.ledger.Pools {
		entry := &w.ledger.Pools[i]
		var targets []int32
		for _, target := range entry.Targets(openIn(facts, entry.UID)) {
			targets = append(targets, target.Ordinal)
		}
		fmt.Fprintf(&text, "  pool%d %s (%s): wants %d, runs %d, pools.yaml %v", entry.Index, entry.Name, entry.UID,
			entry.Accepted.BINDReplicas, entry.Replicas(), targets)
		if id := "id-of-" + entry.Name; entry.ID != id {
			fmt.Fprintf(&text, ", in Designate %s", entry.ID)
		}
		if entry.Removal != "" {
			fmt.Fprintf(&text, ", %s", entry.Removal)
		}
		text.WriteString("\n")
		for _, server := range entry.Servers {
			fmt.Fprintf(&text, "    server %d: key %d%s\n", server.Ordinal, server.RNDCKey, stateOf(entry, server))
		}
	}
	return text.String()
}

func stateOf(entry *Pool, server Server) string {
	var state string
	if server.Listed() {
		state += ", listed at " + server.Address
	}
	if server.Joined {
		state += ", joined"
	}
	if entry.Open(server.Ordinal) {
		state += ", open"
	}
	return state
}
