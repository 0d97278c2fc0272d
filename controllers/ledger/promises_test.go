package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// FuzzPromises lets anything happen in any order, and holds every plan against what the ledger promises.
func FuzzPromises(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		events := make([]byte, 240)
		for i := range events {
			events[i] = byte(random.UintN(256))
		}
		f.Add(events)
	}
	f.Fuzz(func(t *testing.T, events []byte) {
		w := &watched{world: newWorld(v1alpha1.MultiPool), t: t}
		w.add(v1alpha1.DefaultPoolName, 2)
		w.alone = len(events) > 0 && events[0]%2 == 0
		for i := 0; i+1 < len(events) && !t.Failed(); i += 2 {
			w.happen(events[i], events[i+1])
		}
		if t.Failed() {
			t.Logf("events: %v", w.events)
		}
	})
}

// watched is a world in which every step of the ledger is held against its promises.
type watched struct {
	*world
	t      *testing.T
	events []string
	// lost says that the ledger was lost since the last plan, so that there is nothing to compare the next one with.
	lost bool
	// alone says that no pool is added, so that the mode may change back and forth.
	alone bool
}

// happen turns two bytes into an event. Those of the controllers are as frequent as all others together.
func (w *watched) happen(kind, which byte) {
	p := w.pools[int(which>>3)%len(w.pools)]
	n := int32(which % 5)
	switch kind % 23 {
	case 0:
		if len(w.pools) < 8 && !w.alone {
			w.add(fmt.Sprintf("pool-%d", which%3), n)
			w.note("another pool-%d appears", which%3)
		}
	case 1, 2:
		p.spec.BINDReplicas = n
		w.note("%s is scaled to %d", p.uid, n)
	case 3, 4, 5, 6:
		if _, exists := p.pods[n]; exists {
			p.pods[n] = true
			w.note("server %d of %s is ready", n, p.uid)
		}
	case 7:
		if _, exists := p.pods[n]; exists {
			p.pods[n] = false
			w.note("server %d of %s is not ready", n, p.uid)
		}
	case 8:
		w.rare(p, n)
	case 9, 10, 11, 12:
		w.watchedPass(which)
	case 13, 14, 15:
		w.deploy(p)
		w.note("the pool controller passes over %s", p.uid)
	case 16:
		w.deployPartly(p, int(n))
		w.note("the pool controller passes over %d servers of %s and crashes", n, p.uid)
	case 17:
		if w.silent = n > 2; n == 0 && p.name != v1alpha1.DefaultPoolName {
			w.ids[p.name] = fmt.Sprintf("foreign-id-%d", which)
		}
		w.note("Designate is silent: %v; pools that it has: %v", w.silent, w.ids)
	case 18:
		w.behind, w.lacking = n > 2, n%2 == 1
		w.note("Designate is behind: %v; servers lack zones: %v", w.behind, w.lacking)
	case 19:
		if w.rebuild(p, n) {
			w.note("server %d of %s is to be rebuilt", n, p.uid)
		}
	case 20:
		if which%2 == 0 {
			w.wanted = other(w.wanted)
			w.note("the configuration asks for %s mode", w.wanted)
		}
	default:
		w.schedule(p)
		w.note("pods of %s follow", p.uid)
	}
}

// rare are events that would drown all others if they were as frequent.
func (w *watched) rare(p *pool, n int32) {
	switch n {
	case 0:
		if p.name != v1alpha1.DefaultPoolName {
			p.removal = w.nextRemoval(p.removal)
			w.note("the removal of %s is %q", p.uid, p.removal)
		}
	case 1:
		if w.tidy() {
			w.lose()
			w.lost = true
			w.note("the ledger is lost")
		}
	case 2:
		delete(p.services, 1)
		w.note("the Services of server 1 of %s are deleted", p.uid)
	case 3:
		if s := p.services[0]; s != nil {
			s.address = w.address()
			w.note("server 0 of %s gets another address", p.uid)
		}
	default:
		p.invalid = !p.invalid && w.ledger.Pool(p.uid) != nil
		w.note("the spec of %s is invalid: %v", p.uid, p.invalid)
	}
}

// nextRemoval is how far a removal is next. Once in a while it is taken back.
func (w *watched) nextRemoval(now RemovalPhase) RemovalPhase {
	switch {
	case now == "":
		return Deleting
	case now == Deleting && len(w.events)%3 > 0:
		return Deleted
	case now == Deleted && len(w.events)%3 > 0, now == Withdrawing:
		return Withdrawing
	default:
		return ""
	}
}

// tidy says that no Service is left of a server that has gone, nor one that bears the number of such a server still. One whose number
// has been given to another meanwhile would contradict that when the ledger is lost, and nothing could tell which of the two is right.
func (w *watched) tidy() bool {
	return !slices.ContainsFunc(w.pools, func(p *pool) bool {
		entry := w.ledger.Pool(p.uid)
		for ordinal, service := range p.services {
			if entry == nil {
				continue
			}
			if server := entry.Server(ordinal); server == nil || server.RNDCKey != service.key {
				return true
			}
		}
		return false
	})
}

// deployPartly is a pass of the pool controller that ends after some Services.
func (w *watched) deployPartly(p *pool, count int) {
	entry := w.ledger.Pool(p.uid)
	if entry == nil || entry.Removal == Withdrawn || p.index == nil {
		return
	}
	for _, server := range entry.Servers[:min(count, len(entry.Servers))] {
		if s := p.services[server.Ordinal]; s != nil {
			s.open = entry.Open(server.Ordinal)
		}
		if former := p.former; former != nil && former.services[server.Ordinal] != nil {
			former.services[server.Ordinal].open = entry.FormerOpen(server.Ordinal)
		}
	}
}

func (w *watched) note(format string, arguments ...any) {
	w.events = append(w.events, fmt.Sprintf(format, arguments...))
}

// watchedPass is a pass of the aggregator, which may fail before it has written pools.yaml.
func (w *watched) watchedPass(which byte) {
	w.note("the aggregator plans")
	facts, before := w.facts(), w.ledger
	w.plan(facts)
	w.same("planning twice", Plan(w.ledger, facts))
	if w.lost {
		before = w.ledger
	}
	w.lost = false
	w.check("planning", before, facts)
	if which%4 == 0 {
		return
	}
	w.note("the aggregator writes and settles")
	w.write(facts)
	before = w.ledger
	w.settle(facts)
	w.same("settling twice", Settle(w.ledger, facts))
	w.check("settling", before, facts)
}

func (w *watched) same(what string, again *Ledger) {
	w.t.Helper()
	if !equality.Semantic.DeepEqual(w.ledger, again) { // Much faster than cmp, which says what differs.
		w.t.Errorf("%s differs (-once +twice):\n%s", what, cmp.Diff(w.ledger, again))
	}
}

// check holds a step from one ledger to the present one against the promises.
func (w *watched) check(step string, before *Ledger, facts Facts) {
	w.t.Helper()
	w.checkNumbers(step)
	for i := range before.Pools {
		old := &before.Pools[i]
		entry := w.ledger.Pool(old.UID)
		if entry == nil {
			if !slices.Contains(facts.Gone, old.UID) {
				w.t.Errorf("%s: the entry of %s vanished while something of it exists", step, old.UID)
			}
			continue
		}
		w.checkLife(step, old, entry)
		if pool, known := facts.Pool(old.UID); known && pool.IDUnknown && entry.listed() && !old.listed() {
			w.t.Errorf("%s: %s entered pools.yaml under an id that nobody has asked for", step, old.UID)
		}
		if led := openIn(facts, entry.UID); !entry.Leaving() {
			view := oldView{Pool: old, led: led}
			if entry.Name == v1alpha1.DefaultPoolName && before.Mode != w.ledger.Mode && before.Mode != "" {
				view.flipped = true
				view.led = func(ordinal int32, former bool) bool { return led(ordinal, !former) }
			}
			w.checkService(step, view, entry, led)
		}
	}
	w.checkRunning(step)
}

// checkNumbers: no index and no key number is given twice.
func (w *watched) checkNumbers(step string) {
	w.t.Helper()
	indexes, keys := map[int32]string{}, map[int32]string{}
	for _, entry := range w.ledger.Pools {
		if other, taken := indexes[entry.Index]; taken {
			w.t.Errorf("%s: index %d belongs to %s and %s", step, entry.Index, other, entry.UID)
		}
		indexes[entry.Index] = string(entry.UID)
		for _, server := range slices.Concat(entry.Servers, entry.FormerServers()) {
			// A former server and the present one of its ordinal share a key.
			name := fmt.Sprintf("%s/%d", entry.UID, server.Ordinal)
			if other, taken := keys[server.RNDCKey]; (taken && other != name) || server.RNDCKey < 1 {
				w.t.Errorf("%s: key %d belongs to %q and %s", step, server.RNDCKey, other, name)
			}
			keys[server.RNDCKey] = name
		}
	}
}

// checkLife: what is given for life stays.
func (w *watched) checkLife(step string, old, entry *Pool) {
	w.t.Helper()
	if old.Index != entry.Index || (old.ID != entry.ID && old.listed()) || old.Name != entry.Name {
		w.t.Errorf("%s: %s was pool %d, %s, and is pool %d, %s", step, old.UID, old.Index, old.ID, entry.Index, entry.ID)
	}
	if old.Leaving() && !entry.Leaving() {
		w.t.Errorf("%s: the removal of %s was taken back after it was to leave pools.yaml", step, old.UID)
	}
	for _, server := range old.Servers {
		if now := entry.Server(server.Ordinal); server.Rebuilding != "" && now != nil && now.Joined && w.claimOf(old.UID, server.Ordinal) == server.Rebuilding {
			w.t.Errorf("%s: server %d of %s joins with the claim that it was to lose", step, server.Ordinal, old.UID)
		}
	}
	for _, server := range slices.Concat(old.Servers, old.FormerServers()) {
		for _, now := range []*Server{entry.Server(server.Ordinal), entry.FormerServer(server.Ordinal)} {
			if now != nil && now.RNDCKey != server.RNDCKey {
				w.t.Errorf("%s: server %d of %s had key %d and has %d", step, server.Ordinal, old.UID, server.RNDCKey, now.RNDCKey)
			}
		}
	}
}

// oldView is the entry of a pool before a step, with where client Services lead in its terms.
type oldView struct {
	*Pool
	// flipped says that the mode changed, and what is present now was the former then.
	flipped bool
	led     Led
}

func (w *watched) claimOf(uid types.UID, ordinal int32) types.UID {
	for _, p := range w.pools {
		if p.uid == uid {
			return p.claims[ordinal]
		}
	}
	return ""
}

// checkService: a pool that stays goes on being served.
func (w *watched) checkService(step string, old oldView, entry *Pool, led Led) {
	w.t.Helper()
	targets := entry.Targets(led)
	if len(old.Targets(old.led)) > 0 && len(targets) == 0 {
		w.t.Errorf("%s: pools.yaml named servers of %s and names none", step, entry.UID)
	}
	if entry.Accepted.BINDReplicas == 0 {
		return
	}
	joined := func(s Server) bool { return s.Joined }
	before := slices.Concat(old.Servers, old.FormerServers())
	now := slices.Concat(entry.Servers, entry.FormerServers())
	if slices.ContainsFunc(before, joined) && !slices.ContainsFunc(now, joined) {
		w.t.Errorf("%s: the last joined server of %s is not joined any more", step, entry.UID)
	}
	w.checkClients(step, old, entry)
	for _, server := range entry.Servers {
		if server.Joined && entry.Replicas() <= server.Ordinal {
			w.t.Errorf("%s: %d replicas of %s do not run server %d, which is in use", step, entry.Replicas(), entry.UID, server.Ordinal)
		}
	}
	for _, server := range entry.FormerServers() {
		if server.Joined && entry.FormerReplicas() <= server.Ordinal {
			w.t.Errorf("%s: %d former replicas of %s do not run server %d, which is in use", step, entry.FormerReplicas(), entry.UID, server.Ordinal)
		}
	}
	for former, servers := range map[bool][]Server{false: old.Servers, true: old.FormerServers()} {
		for _, server := range servers {
			now := entry.Server(server.Ordinal)
			if former != old.flipped {
				now = entry.FormerServer(server.Ordinal)
			}
			if server.Listed() && old.led(server.Ordinal, former) && (now == nil || !names(targets, now)) {
				w.t.Errorf("%s: server %d of %s (former: %v) left pools.yaml while clients reach it", step, server.Ordinal, entry.UID, former)
			}
		}
	}
}

// checkClients: a client Service leads to one server, and one that led somewhere and is wanted does so still.
func (w *watched) checkClients(step string, old oldView, entry *Pool) {
	w.t.Helper()
	anyJoined, anyOpen := false, false
	for _, server := range slices.Concat(entry.Servers, entry.FormerServers()) {
		present, former := entry.Open(server.Ordinal), entry.FormerOpen(server.Ordinal)
		if present && former {
			w.t.Errorf("%s: the client Service %d of %s leads to two servers", step, server.Ordinal, entry.UID)
		}
		anyJoined, anyOpen = anyJoined || server.Joined, anyOpen || present || former
	}
	if anyJoined && !anyOpen {
		w.t.Errorf("%s: %s has joined servers and none is open to clients", step, entry.UID)
	}
	for ordinal := range entry.Accepted.BINDReplicas {
		if (old.Open(ordinal) || old.FormerOpen(ordinal)) && !entry.Open(ordinal) && !entry.FormerOpen(ordinal) {
			w.t.Errorf("%s: clients of server %d of %s are led nowhere any more", step, ordinal, entry.UID)
		}
	}
}

// checkRunning: a pod that runs keeps its entry, and its key is nobody else's. A server that Designate knows of, and that was
// in use, runs on, unless its pool goes or has none.
func (w *watched) checkRunning(step string) {
	w.t.Helper()
	for _, p := range w.pools {
		entry := w.ledger.Pool(p.uid)
		if entry == nil || entry.Leaving() {
			continue
		}
		w.checkPods(step, p.site, entry.Server, entry.Replicas())
		if p.former != nil {
			w.checkPods(step, p.former, entry.FormerServer, entry.FormerReplicas())
		}
	}
}

func (w *watched) checkPods(step string, of *site, find func(int32) *Server, replicas int32) {
	w.t.Helper()
	for ordinal := range of.pods {
		s, server := of.services[ordinal], find(ordinal)
		if s != nil && (server == nil || server.RNDCKey != s.key) {
			w.t.Errorf("%s: server %d runs with key %d, and the ledger has %+v", step, ordinal, s.key, server)
		}
		if s != nil && s.open && w.known[s.address] && replicas <= ordinal {
			w.t.Errorf("%s: server %d stops while Designate and clients know it", step, ordinal)
		}
	}
}
