package removal

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/pooldeletion"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
)

// world is one pool, its Designate and the operator in miniature. Everything in it happens only when a test says so.
type world struct {
	now     time.Time
	backend *v1alpha1.DesignateBackend
	pool    *v1alpha1.DesignatePool
	entry   *ledger.Pool
	verdict Verdict

	// exists says that Designate has the pool, zones are those in it, made under way those that somebody is making: Designate
	// has seen that the pool is there, and writes them later. silent says that it does not answer.
	exists bool
	zones  []string
	making []string
	silent bool

	// wishedAt is when the wish was first seen, view and answer what is known of Designate, by the token of the attempt.
	wishedAt time.Time
	view     zones.View
	answers  map[string]pooldeletion.Answer
}

const poolID = "id-edge"

func newWorld(name string) *world {
	w := &world{
		now: now, backend: withAccess(&v1alpha1.DesignateBackend{}), pool: pool(name, map[string]string{}), exists: true,
		entry:   &ledger.Pool{UID: "uid-edge", Name: name, ID: poolID, Applied: &ledger.Applied{Entry: "applied"}},
		answers: map[string]pooldeletion.Answer{}, view: zones.View{FreshFor: time.Hour},
	}
	w.pool.UID = w.entry.UID
	return w
}

func (w *world) wish() {
	w.pool.Annotations[v1alpha1.AnnotationRemovalRequested] = "2026-01-01T00:00:00Z"
	w.wishedAt = w.now
}

func (w *world) takeBack() { delete(w.pool.Annotations, v1alpha1.AnnotationRemovalRequested) }

func (w *world) force() { w.pool.Annotations[v1alpha1.AnnotationForceRemoval] = w.entry.Name }

func (w *world) later(d time.Duration) func() { return func() { w.now = w.now.Add(d) } }

// beginZone is somebody who makes a zone: Designate looks whether the pool is there. finishZones writes all of them.
func (w *world) beginZone(name string) {
	if w.exists {
		w.making = append(w.making, name)
	}
}

func (w *world) finishZones() { w.zones, w.making = append(w.zones, w.making...), nil }

func (w *world) deleteZones() { w.zones = nil }

// list is what the observer of zones does.
func (w *world) list() {
	w.now = w.now.Add(2 * time.Second)
	if w.silent {
		w.view.Failure = &designate.Error{Kind: designate.Unreachable, Operation: "list zones"}
		w.view.FailingSince = w.now
		return
	}
	listing := &zones.Listing{Began: w.now, Ended: w.now, Pools: map[string]*zones.PoolZones{
		poolID: {Total: len(w.zones), Names: w.zones, States: map[zones.State]int{{Status: "ACTIVE", Action: "NONE"}: len(w.zones)}},
	}}
	if w.exists {
		listing.Known = []designate.Pool{{ID: poolID, Name: w.entry.Name}}
	}
	w.view.Listing, w.view.Failure = listing, nil
}

// delete is what the deleter does: Designate refuses while it sees zones.
func (w *world) delete() {
	token := w.entry.DeletionToken()
	if token == "" || w.answers[token].Gone || w.answers[token].NotEmpty {
		return
	}
	switch {
	case w.silent:
		w.answers[token] = pooldeletion.Answer{Err: &designate.Error{Kind: designate.Unreachable, Operation: "delete pool"}}
	case len(w.zones) > 0 && w.exists:
		w.answers[token] = pooldeletion.Answer{NotEmpty: true}
	default:
		w.exists = false
		w.answers[token] = pooldeletion.Answer{Gone: true}
	}
}

// apply is what pool updates do: a pool that Designate is not known to have is made again.
func (w *world) apply() {
	if w.entry.Removal == "" && w.entry.Applied.Entry == "" && !w.silent {
		w.exists, w.entry.Applied = true, &ledger.Applied{Entry: "applied"}
	}
}

// pass is the aggregator's.
func (w *world) pass() {
	from := Namespace{
		Backend: w.backend, Pools: []v1alpha1.DesignatePool{*w.pool}, Ledger: &ledger.Ledger{Pools: []ledger.Pool{*w.entry}},
		View: w.view, Now: w.now,
		ListedSince: func(zones.Intent) *zones.Listing {
			if listing := w.view.Fresh(w.now); listing != nil && listing.Began.After(w.wishedAt) {
				return listing
			}
			return nil
		},
		Answer:  func(token string) pooldeletion.Answer { return w.answers[token] },
		Serving: func(types.UID) serving.View { return serving.View{} },
	}
	facts := from.Of(w.pool)
	w.verdict = Judge(facts)
	Next(w.entry, w.verdict, facts)
}

// String is how it stands.
func (w *world) String() string {
	var text strings.Builder
	phase := string(w.entry.Removal)
	if phase == "" {
		phase = "stays"
	}
	fmt.Fprintf(&text, "  the pool: %s; in Designate: %v, zones %v", phase, w.exists, w.zones)
	if len(w.making) > 0 {
		fmt.Fprintf(&text, ", under way %v", w.making)
	}
	if w.entry.Applied.Entry == "" {
		text.WriteString("; to be applied again")
	}
	if w.verdict.Blocked() {
		fmt.Fprintf(&text, "\n  blocked: %s: %s", w.verdict.Reason, w.verdict.Message)
	}
	text.WriteString("\n")
	return text.String()
}
