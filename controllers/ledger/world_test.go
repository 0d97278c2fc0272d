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
	// born counts pools and addresses, and bound claims, so that none is ever used twice.
	born, bound int
}

// pool is a DesignatePool and what runs for it.
type pool struct {
	uid      types.UID
	name     string
	spec     v1alpha1.DesignatePoolSpec
	invalid  bool
	vanished bool
	// removal is how far the removal of the pool is to be.
	removal RemovalPhase
	// index is the one that the pool's objects bear; nil without any.
	index *int32
	*site
	// former are the objects of the default pool in the other mode; nil without any. mode is that of site.
	former *site
	mode   v1alpha1.Mode
}

// site is what runs for a pool in one mode.
type site struct {
	replicas int32
	services map[int32]*service
	// pods that exist, and whether they are ready.
	pods map[int32]bool
	// claims of the servers.
	claims map[int32]types.UID
}

func newSite() *site {
	return &site{services: map[int32]*service{}, pods: map[int32]bool{}, claims: map[int32]types.UID{}}
}

// in are a pool's objects in a mode and in the other one, of which only the default pool has any.
func (p *pool) in(mode v1alpha1.Mode) (present, former *site) {
	present, former = p.site, p.former
	if p.name == v1alpha1.DefaultPoolName && p.mode != "" && p.mode != mode {
		present, former = former, present
	}
	if present == nil {
		present = newSite()
	}
	return present, former
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
		uid:  types.UID(fmt.Sprintf("uid-%03d", w.born)),
		name: name,
		spec: v1alpha1.DesignatePoolSpec{PoolName: name, PoolSettings: v1alpha1.PoolSettings{BINDReplicas: replicas}},
		site: newSite(),
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
			facts.Pools = append(facts.Pools, w.poolFacts(p, facts.Mode))
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
	for _, p := range w.pools {
		if p.index != nil && p.mode != "" {
			return p.mode
		}
	}
	return ""
}

func (w *world) poolFacts(p *pool, mode v1alpha1.Mode) PoolFacts {
	present, former := p.in(mode)
	facts := PoolFacts{
		UID: p.uid, Object: p.name, Name: p.name, ID: "id-of-" + p.name,
		IDUnknown: w.silent && p.name != v1alpha1.DefaultPoolName, Replicas: present.replicas, Servers: w.serverFacts(present),
	}
	if former != nil {
		facts.Former, facts.FormerReplicas = w.serverFacts(former), former.replicas
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
	return facts
}

func (w *world) serverFacts(of *site) map[int32]ServerFacts {
	facts := map[int32]ServerFacts{}
	for ordinal, s := range of.services {
		ready, exists := of.pods[ordinal]
		facts[ordinal] = ServerFacts{
			Address: s.address, RNDCKey: s.key, InPoolsYAML: w.named[s.address],
			Ready: ready, MayJoin: ready && !w.lacking, ClientOpen: s.open, PodExists: exists, Claim: of.claims[ordinal],
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
func (p *pool) remains() bool {
	return p.index != nil || len(p.services) > 0 || len(p.pods) > 0 || p.former != nil
}

// plan is the aggregator up to the point at which it writes pools.yaml. How far removals are, another package decides.
func (w *world) plan(facts Facts) {
	w.setRemovals()
	w.ledger = Plan(w.ledger, facts)
	w.setRemovals()
	for _, p := range w.pools {
		p.site, p.former = p.in(w.ledger.Mode)
		p.mode = w.ledger.Mode
	}
}

func (w *world) setRemovals() {
	w.ledger = w.ledger.DeepCopy()
	for _, p := range w.pools {
		if entry := w.ledger.Pool(p.uid); entry != nil && !entry.Leaving() {
			entry.Removal = p.removal
		}
	}
}

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
		if p.former != nil {
			p.former.replicas = 0
		}
		if len(p.pods) == 0 && (p.former == nil || len(p.former.pods) == 0) {
			p.index, p.services, p.former, p.vanished = nil, map[int32]*service{}, nil, true
		}
		return
	}
	index := entry.Index
	p.index, p.replicas = &index, entry.Replicas()
	maps.DeleteFunc(p.services, func(ordinal int32, _ *service) bool { return entry.Server(ordinal) == nil })
	defer w.deployFormer(p, entry)
	for _, server := range entry.Servers {
		s := p.services[server.Ordinal]
		if s == nil {
			s = &service{address: w.address()}
			p.services[server.Ordinal] = s
		}
		s.key, s.open = server.RNDCKey, entry.Open(server.Ordinal)
		if server.Rebuilding != "" && !s.open && p.claims[server.Ordinal] == server.Rebuilding {
			delete(p.claims, server.Ordinal)
			delete(p.pods, server.Ordinal)
		}
	}
}

// deployFormer is what the pool controller does about the mode before: servers stop as they are let go, and last all else goes.
func (w *world) deployFormer(p *pool, entry *Pool) {
	switch {
	case p.former == nil:
		return
	case entry.Former == nil:
		p.former = nil
		return
	}
	p.former.replicas = entry.FormerReplicas()
	maps.DeleteFunc(p.former.services, func(ordinal int32, _ *service) bool { return entry.FormerServer(ordinal) == nil })
	for ordinal, s := range p.former.services {
		s.open = entry.FormerOpen(ordinal)
	}
}

// schedule is one pass of the StatefulSet controller: pods appear, not ready yet, and surplus ones stop.
func (w *world) schedule(p *pool) {
	if p.former != nil {
		maps.DeleteFunc(p.former.pods, func(ordinal int32, _ bool) bool { return ordinal >= p.former.replicas })
		maps.DeleteFunc(p.former.claims, func(ordinal int32, _ types.UID) bool { return ordinal >= p.former.replicas })
	}
	maps.DeleteFunc(p.pods, func(ordinal int32, _ bool) bool { return ordinal >= p.replicas })
	maps.DeleteFunc(p.claims, func(ordinal int32, _ types.UID) bool { return ordinal >= p.replicas })
	for ordinal := range p.replicas {
		if _, exists := p.pods[ordinal]; !exists {
			p.pods[ordinal] = false
		}
		if p.claims[ordinal] == "" {
			w.bound++
			p.claims[ordinal] = types.UID(fmt.Sprintf("claim-%d", w.bound))
		}
	}
}

// rebuild has a server of a pool emptied, as the aggregator does where another one serves clients.
func (w *world) rebuild(p *pool, ordinal int32) bool {
	entry := w.ledger.Pool(p.uid)
	if entry == nil || entry.Removing() || entry.Server(ordinal) == nil || p.claims[ordinal] == "" || entry.Server(ordinal).Rebuilding != "" {
		return false
	}
	others := slices.ContainsFunc(entry.Servers, func(s Server) bool { return s.Ordinal != ordinal && s.Joined && entry.wanted(s.Ordinal) })
	if !others || !entry.wanted(ordinal) {
		return false
	}
	w.ledger = w.ledger.DeepCopy()
	w.ledger.Pool(p.uid).Rebuild(ordinal, p.claims[ordinal])
	return true
}

// rest lets the controllers run until nothing changes any more.
func (w *world) rest() {
	for range 12 {
		w.aggregate()
		for _, p := range w.pools {
			w.deploy(p)
			w.schedule(p)
		}
	}
}

// lose loses the ledger.
func (w *world) lose() { w.ledger = &Ledger{} }

func openIn(facts Facts, uid types.UID) Led {
	known, _ := facts.Pool(uid)
	return known.Led
}

// String is the ledger in a compact form, with what follows from it for each pool.
func (w *world) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "  mode %s\n", w.ledger.Mode)
	facts := w.facts()
	for i := range w.ledger.Pools {
		entry := &w.ledger.Pools[i]
		var targets []string
		for _, target := range entry.Targets(openIn(facts, entry.UID)) {
			mark := ""
			if former := entry.FormerServer(target.Ordinal); former != nil && former.Address == target.Address {
				mark = "'"
			}
			targets = append(targets, fmt.Sprintf("%d%s", target.Ordinal, mark))
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
			fmt.Fprintf(&text, "    server %d: key %d%s\n", server.Ordinal, server.RNDCKey, stateOf(server, entry.Open(server.Ordinal)))
		}
		if entry.Former != nil {
			fmt.Fprintf(&text, "    in %s mode, runs %d\n", entry.Former.Mode, entry.FormerReplicas())
		}
		for _, server := range entry.FormerServers() {
			fmt.Fprintf(&text, "    server %d': key %d%s\n", server.Ordinal, server.RNDCKey, stateOf(server, entry.FormerOpen(server.Ordinal)))
		}
	}
	return text.String()
}

func stateOf(server Server, open bool) string {
	var state string
	if server.Listed() {
		state += ", listed at " + server.Address
	}
	if server.Joined {
		state += ", joined"
	}
	if server.Rebuilding != "" {
		state += ", rebuilding"
	}
	if open {
		state += ", open"
	}
	return state
}
