package killpoints

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

const (
	// everyPoint is the variable that has every point tried, and the report written into a file.
	everyPoint = "KILLPOINTS_REPORT"
	// inSample is how many points of a scenario are tried otherwise.
	inSample = 2
	// atOnce is how many worlds there are at a time. Most of the time they wait.
	atOnce = 8
)

// scenario is something that people do.
type scenario struct {
	name string
	// access says that the operator reaches Designate, and applies pools.yaml there.
	access bool
	// single says that it begins with a single pool, without a ConfigMap.
	single bool
	before []size
	// begin does it, and returns when there is nothing left to do for people.
	begin func(ctx context.Context, w *world) error
	after []size
	// gone are pools that are not to be there in the end.
	gone []string
}

var (
	base  = []size{{v1alpha1.DefaultPoolName, 1}, {neighbour, 1}}
	three = append(slices.Clone(base), size{"gold", 2})
)

func edited(to []size) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error { return w.configure(ctx, to...) }
}

var scenarios = []scenario{
	{name: "a pool is added", before: base, begin: edited(three), after: three},
	{name: "a pool is scaled up", before: base, begin: edited(wide), after: wide},
	{name: "a pool is scaled down", before: wide, begin: edited(base), after: base},
	{name: "a pool is removed", access: true, before: three, begin: edited(base), after: base, gone: []string{"gold"}},
	{name: "a pool is put back while it is removed", access: true, before: three, after: three,
		begin: func(ctx context.Context, w *world) error {
			old, err := w.pool(ctx, "gold")
			if err != nil {
				return err
			}
			if err := w.configure(ctx, base...); err != nil {
				return err
			}
			// Past the point of no return, so that what is put back is another pool.
			err = running.Await(ctx, func() error {
				stored, err := w.ledger(ctx)
				if err != nil {
					return err
				}
				if entry := stored.Pool(old.UID); entry != nil && !entry.Removing() {
					return errors.New("not past the point of no return")
				}
				return nil
			})
			if err != nil {
				return err
			}
			return w.configure(ctx, three...)
		}},
	{name: "a single pool becomes several", single: true, before: alone, begin: edited(several), after: several},
	{name: "a single pool is to become several, and is not half-way", single: true, before: alone, after: alone,
		begin: func(ctx context.Context, w *world) error {
			if err := w.configure(ctx, alone...); err != nil {
				return err
			}
			err := running.Await(ctx, func() error {
				stored, err := w.ledger(ctx)
				if err != nil {
					return err
				}
				if stored.Mode != v1alpha1.MultiPool {
					return errors.New("the pool does not move yet")
				}
				return nil
			})
			if err != nil {
				return err
			}
			return w.unconfigure(ctx)
		}},
}

var (
	alone   = []size{{v1alpha1.DefaultPoolName, 2}}
	several = append(slices.Clone(alone), size{neighbour, 1})
)

var wide = []size{{v1alpha1.DefaultPoolName, 1}, {neighbour, 3}}

// outcome is what came of one run.
type outcome struct {
	writes     int
	shape      string
	violations []string
}

// run plays a scenario. The operator dies at a write, unless that is 0, and is started again.
func (s *scenario) run(ctx context.Context, write int, afterIt bool) (result outcome, err error) {
	w, err := newWorld(ctx, s.access, s.single)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, w.end(ctx)) }()
	if !s.single {
		if err := w.configure(ctx, s.before...); err != nil {
			return result, err
		}
	}
	if err := w.rest(ctx, func(ctx context.Context) error { return w.ready(ctx, s.before...) }); err != nil {
		return result, fmt.Errorf("before it begins: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	violations := w.watch(watching)
	counted := len(w.wire().Writes())
	var dead <-chan struct{}
	if write > 0 {
		dead = w.wire().Kill(write, afterIt)
	}
	acting, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.begin(acting, w) }()
	if write > 0 {
		if err := s.restart(acting, w, dead); err != nil {
			return result, err
		}
	}
	if err := <-done; err != nil {
		return result, fmt.Errorf("while it is done: %w", err)
	}
	if err := w.rest(ctx, func(ctx context.Context) error { return s.ended(ctx, w) }); err != nil {
		return result, fmt.Errorf("in the end: %w", err)
	}
	result.writes = len(w.wire().Writes()) - counted
	result.shape, err = w.shape(ctx)
	stop()
	result.violations = violations()
	return result, err
}

// restart waits until the operator dies and starts another one. One that has less to write than in the undisturbed run lives on.
func (s *scenario) restart(ctx context.Context, w *world, dead <-chan struct{}) error {
	ended := make(chan error, 1)
	resting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { ended <- w.rest(resting, func(ctx context.Context) error { return s.ended(ctx, w) }) }()
	select {
	case <-dead:
		if err := w.operator.Stop(); err != nil {
			return err
		}
		return w.start(ctx)
	case err := <-ended:
		return err
	}
}

func (s *scenario) ended(ctx context.Context, w *world) error {
	for _, name := range s.gone {
		if _, err := w.pool(ctx, name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("pool %s is still there: %w", name, err)
		}
	}
	return w.ready(ctx, s.after...)
}

// point is a write at which the operator dies.
type point struct {
	write int
	after bool
}

func (p point) String() string {
	if p.after {
		return fmt.Sprintf("after write %d", p.write)
	}
	return fmt.Sprintf("before write %d", p.write)
}

// points are those to try: all, or some that are others in each run.
func points(writes int) []point {
	var all []point
	for write := 1; write <= writes; write++ {
		all = append(all, point{write, false}, point{write, true})
	}
	if os.Getenv(everyPoint) != "" {
		return all
	}
	shift := int(GinkgoRandomSeed()) % len(all)
	var chosen []point
	for i := range inSample {
		chosen = append(chosen, all[(shift+i*len(all)/inSample)%len(all)])
	}
	return chosen
}

var _ = Describe("R19: killed at any write, the operator ends where it would have, without a forbidden state", Ordered, ContinueOnFailure, func() {
	var report strings.Builder
	for i := range scenarios {
		s := &scenarios[i]
		It(s.name, func(ctx SpecContext) {
			undisturbed, err := s.run(ctx, 0, false)
			Expect(err).NotTo(HaveOccurred())
			Expect(undisturbed.violations).To(BeEmpty(), "undisturbed")
			Expect(undisturbed.writes).To(BeNumerically(">", 5), "a scenario in which nothing is written")
			tried := points(undisturbed.writes)
			failures := s.try(ctx, tried, undisturbed.shape)
			fmt.Fprintf(&report, "| %s | %d | %d of %d | %d |\n", s.name, undisturbed.writes, len(tried), 2*undisturbed.writes, len(failures))
			Expect(failures).To(BeEmpty())
		})
	}
	AfterAll(func() {
		if path := os.Getenv(everyPoint); path != "" {
			head := "# Kill points\n\nWritten by `make killpoints`: the operator is killed before and after each of its writes, to the API server and to Designate, and started\n" +
				"again. It has to end where an undisturbed run ends, without a forbidden state at any moment (`test/designate/killpoints`).\n\n" +
				"| scenario | writes | points covered | violations |\n|---|---|---|---|\n"
			Expect(os.WriteFile(path, []byte(head+report.String()), 0o600)).To(Succeed())
		}
	})
})

// try kills the operator at each of some points, several worlds at once, and says what went wrong.
func (s *scenario) try(ctx context.Context, tried []point, want string) []string {
	var (
		group    sync.WaitGroup
		mutex    sync.Mutex
		failures []string
		places   = make(chan struct{}, atOnce)
	)
	for _, p := range tried {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			result, err := s.run(ctx, p.write, p.after)
			problem := ""
			switch diff := cmp.Diff(want, result.shape); {
			case err != nil:
				problem = err.Error()
			case len(result.violations) > 0:
				problem = strings.Join(result.violations, "; ")
			case diff != "":
				problem = "it ends otherwise (-undisturbed +killed):\n" + diff
			}
			mutex.Lock()
			defer mutex.Unlock()
			if problem != "" {
				failures = append(failures, fmt.Sprintf("killed %s: %s", p, problem))
			}
			GinkgoWriter.Printf("%s, killed %s: %s\n", s.name, p, problem)
		})
	}
	group.Wait()
	return failures
}
