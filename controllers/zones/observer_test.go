package zones

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

func TestZonesAreListedOnceInAnInterval(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"))
	w.designate.zones = []designate.Zone{zoneOf("gold", "a."), zoneOf("gold", "b."), zoneOf("iron", "c.")}
	if view := w.view(); view.Attempted() {
		t.Fatalf("before the first listing %+v is known", view)
	}
	w.elapse(10*time.Minute - time.Second)
	if got := w.designate.called("zones"); got != 10 {
		t.Errorf("zones were listed %d times in ten minutes, want 10", got)
	}
	// R37: pools first, once, and the zones once, whatever pools there are.
	if diff := cmp.Diff([]string{"connect to http://one", "pools", "zones"}, w.designate.calls[:3]); diff != "" {
		t.Errorf("calls of one listing (-want +got):\n%s", diff)
	}
	listing := w.view().Fresh(w.clock.Now())
	if listing == nil || listing.Total != 3 || listing.In("gold").Total != 2 || listing.In("tin").Total != 0 {
		t.Errorf("the listing is %+v", listing)
	}
	if took := listing.Ended.Sub(listing.Began); took != time.Second {
		t.Errorf("the listing took %s, want 1s", took)
	}
}

func TestTheIntervalOfTheSpecCountsAtOnce(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.updateBackend(func(b *v1alpha1.DesignateBackend) { b.Spec.Designate.PollInterval.Duration = time.Hour })
	w.elapse(30 * time.Minute)
	if got := w.designate.called("zones"); got != 1 {
		t.Errorf("with an interval of an hour zones were listed %d times in 30 minutes, want once", got)
	}
	if got := w.view().FreshFor; got != 3*time.Hour {
		t.Errorf("a listing counts for %s, want 3h", got)
	}
	w.updateBackend(func(b *v1alpha1.DesignateBackend) { b.Spec.Designate.PollInterval = nil })
	w.elapse(10*time.Minute - time.Second)
	if got := w.designate.called("zones"); got != 11 {
		t.Errorf("10 minutes with the default interval later they were listed %d times, want 11", got)
	}
}

func TestPassesInBetweenListNothing(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.settle()
	for range 20 {
		w.pass()
	}
	if got := w.designate.called("zones"); got != 1 {
		t.Errorf("zones were listed %d times, want once", got)
	}
}

// R1, R7: a listing that ends too soon says nothing.
func TestAListingThatFailsHalfWayChangesNoNumber(t *testing.T) {
	for failsAfter := -1; failsAfter <= 3; failsAfter++ {
		t.Run(fmt.Sprintf("after %d zones", failsAfter), func(t *testing.T) {
			w := worldWith(t, backendAt("http://one"), designatePool("gold"))
			w.designate.zones = []designate.Zone{zoneOf("gold", "a."), zoneOf("gold", "b."), zoneOf("gold", "c.")}
			w.settle()
			before := w.view()
			w.clock.Step(time.Minute)
			w.designate.set(func() {
				w.designate.zones[0].PoolID = "iron"
				w.designate.failure, w.designate.failsAfter = errDown, failsAfter
			})
			w.settle()
			failedAt := w.clock.Now()
			w.elapse(20 * time.Second)
			after := w.view()
			if after.Listing != before.Listing || after.Listing.In("gold").Total != 3 {
				t.Errorf("the failure changed the listing: %+v", after.Listing)
			}
			if designate.KindOf(after.Failure) != designate.Unreachable || !after.FailingSince.Equal(failedAt) || !after.FailedAt.After(failedAt) {
				t.Errorf("failing since %s, last at %s with %v; want since %s with errDown", after.FailingSince, after.FailedAt, after.Failure, failedAt)
			}
			// R2: it recovers without an event.
			w.designate.set(func() { w.designate.failure = nil })
			w.elapse(time.Minute)
			if view := w.view(); view.Failure != nil || !view.FailingSince.IsZero() || view.Listing.In("gold").Total != 2 {
				t.Errorf("a minute after recovery the view is %+v", view)
			}
		})
	}
}

func TestWhatWasNeverListedIsUnknown(t *testing.T) {
	for name, failure := range map[string]error{"an error of Designate": errDown, "any other error": errOther} {
		t.Run(name, func(t *testing.T) {
			w := worldWith(t, backendAt("http://one"))
			w.designate.failure, w.designate.failsAfter = failure, 0
			w.settle()
			if view := w.view(); view.Listing != nil || view.Failure == nil || view.FreshFor != 10*time.Minute {
				t.Errorf("the view is %+v, want a failure and no listing", view)
			}
		})
	}
}

func TestAListingThatIsTooOldDoesNotCount(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.settle()
	w.designate.set(func() { w.designate.failure, w.designate.failsAfter = errDown, -1 })
	w.elapse(9 * time.Minute)
	if w.view().Fresh(w.clock.Now()) == nil {
		t.Error("after nine minutes it does not count")
	}
	w.elapse(2 * time.Minute)
	if w.view().Fresh(w.clock.Now()) != nil {
		t.Error("after eleven minutes it still counts")
	}
	if w.view().Listing == nil {
		t.Error("it is forgotten")
	}
}

// R4, R10.
func TestADesignateThatFailsIsAskedLessAndLess(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.designate.failure, w.designate.failsAfter = errDown, -1
	w.elapse(time.Hour)
	if got := w.designate.called("connect to http://one"); got < 15 || got > 20 {
		t.Errorf("it was asked %d times in an hour, want 15 to 20", got)
	}
}

func TestRefusedCredentialsAreTriedAgainWhenTheirSecretChanges(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud", UID: "uid-secret"}}
	w := worldWith(t, backendWithSecret(), secret)
	w.designate.failure, w.designate.failsAfter = errRefused, -1
	if wait := w.settle(); wait > credentialsChecked {
		t.Errorf("the Secret is looked at after %s, want %s at most", wait, credentialsChecked)
	}
	w.elapse(8 * time.Minute)
	attempts := w.designate.called("connect to ")
	if attempts < 2 || attempts > 4 {
		t.Fatalf("refused credentials were tried %d times in 8 minutes, want 2 to 4", attempts)
	}
	w.designate.set(func() { w.designate.failure = nil })
	update(w, client.ObjectKeyFromObject(secret), secret, func(s *corev1.Secret) { s.Data = map[string][]byte{"clouds.yaml": []byte("new")} })
	w.elapse(credentialsChecked)
	w.settle()
	if view := w.view(); view.Failure != nil || view.Listing == nil {
		t.Errorf("%s after the Secret changed the view is %+v", credentialsChecked, view)
	}
}

func TestASecretThatComesLaterIsUsed(t *testing.T) {
	w := worldWith(t, backendWithSecret())
	w.designate.failure, w.designate.failsAfter = &designate.Error{Kind: designate.Unusable, Operation: "read the configuration"}, -1
	w.settle()
	w.designate.set(func() { w.designate.failure = nil })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud", UID: "uid-secret"}}
	if err := w.client.Create(context.Background(), secret); err != nil {
		t.Fatal(err)
	}
	w.elapse(credentialsChecked)
	w.settle()
	if w.view().Listing == nil {
		t.Errorf("%s after the Secret was made the zones are still unknown", credentialsChecked)
	}
}

// An attempt says why; were none made, nobody would know what is wrong.
func TestASecretThatCannotBeLookedAtKeepsNoAttemptFromBeingMade(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud", UID: "uid-secret"}}
	w := worldWith(t, backendWithSecret(), secret)
	w.settle()
	w.observer.APIReader = interceptor.NewClient(w.client, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errOther
		},
	})
	w.settle()
	if got := w.designate.called("connect to "); got != 1 {
		t.Errorf("that the Secret cannot be looked at led to %d more attempts, want none", got-1)
	}
	w.designate.failure, w.designate.failsAfter = errDown, -1
	w.elapse(2 * time.Minute)
	if view := w.view(); view.Failure == nil {
		t.Error("there is no failure to show")
	}
	if got := w.designate.called("connect to "); got > 7 {
		t.Errorf("Designate was asked %d times in two minutes, want 7 at most", got)
	}
}

func TestWhatIsKnownOfOneDesignateIsNotSaidOfAnother(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.DesignateBackend){
		"another endpoint": func(b *v1alpha1.DesignateBackend) { b.Spec.Designate.Access.Endpoint = "http://two" },
		"a cloud instead": func(b *v1alpha1.DesignateBackend) {
			b.Spec.Designate.Access = &v1alpha1.DesignateAccess{CloudCredentialsRef: &v1alpha1.CloudCredentialsRef{SecretName: "cloud", CloudName: "main"}}
		},
		"no access": func(b *v1alpha1.DesignateBackend) { b.Spec.Designate.Access = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := worldWith(t, backendAt("http://one"))
			w.settle()
			w.designate.set(func() { w.designate.failure, w.designate.failsAfter = errDown, -1 })
			w.updateBackend(change)
			if view := w.view(); view.Attempted() {
				t.Errorf("at once after the change %+v is known", view)
			}
			w.settle()
			if view := w.view(); view.Listing != nil {
				t.Errorf("after the first attempt the listing is %+v", view.Listing)
			}
		})
	}
}

func TestABackendThatIsMadeAnewStartsWithNothing(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.settle()
	if err := w.client.Delete(context.Background(), backendAt("")); err != nil {
		t.Fatal(err)
	}
	if wait := w.settle(); wait != 0 {
		t.Errorf("without a DesignateBackend the next look is due after %s, want never", wait)
	}
	if got := w.designate.called("disconnect"); got == 0 {
		t.Error("the connection is kept")
	}
	again := backendAt("http://one")
	again.UID = "another"
	if err := w.client.Create(context.Background(), again); err != nil {
		t.Fatal(err)
	}
	if view := w.view(); view.Attempted() {
		t.Errorf("of the new DesignateBackend %+v is known", view)
	}
}

func TestAChangeOfAccessEndsAnAttemptThatHangs(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.designate.hangs, w.designate.listing = true, make(chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); w.pass() }()
	<-w.designate.listing
	w.observer.redirect(backendAt("http://one"))
	select {
	case <-done:
		t.Fatal("a DesignateBackend that says the same Designate ended the attempt")
	case <-time.After(20 * time.Millisecond):
	}
	w.observer.redirect(backendAt("http://two"))
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the attempt goes on")
	}
	if view := w.view(); view.Attempted() {
		t.Errorf("the attempt left %+v", view)
	}
}

func TestAnAttemptThatHangsFailsAtItsTimeout(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.designate.hangs = true
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	w.passWithin(ctx)
	if view := w.view(); view.Failure == nil {
		t.Error("it left no failure")
	}
	if diff := cmp.Diff([]string{v1alpha1.BackendName}, drained(w.backends)); diff != "" {
		t.Errorf("told of it (-want +got):\n%s", diff)
	}
}

func TestTheEndOfTheOperatorIsNoFailure(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.designate.hangs = true
	ctx, stop := context.WithCancel(context.Background())
	stop()
	w.passWithin(ctx)
	if view := w.view(); view.Attempted() {
		t.Errorf("it left %+v", view)
	}
}

func TestOneListingSucceedsForManyRemovals(t *testing.T) {
	const removals = 20
	w := worldWith(t, backendAt("http://one"))
	for number := range removals {
		if err := w.client.Create(context.Background(), designatePool(fmt.Sprintf("pool-%d", number))); err != nil {
			t.Fatal(err)
		}
	}
	w.settle()
	w.clock.Step(20 * time.Second)
	intents := make([]Intent, 0, removals)
	for number := range removals {
		pool := w.updatePool(fmt.Sprintf("pool-%d", number), wantRemoval("now"))
		intent, wanted := IntentOf(pool, nil)
		if !wanted {
			t.Fatal("no removal is wanted")
		}
		intents = append(intents, intent)
		if number == 0 {
			w.settle()
			if w.observer.ListedSince(namespace, intent) == nil {
				t.Error("the first removal waits for its listing")
			}
		}
		if number > 0 && w.observer.ListedSince(namespace, intent) != nil {
			t.Errorf("removal %d has a listing that began before it", number)
		}
		w.settle()
	}
	if got := w.designate.called("zones"); got != 2 {
		t.Errorf("zones were listed %d times for the first removal, want 2", got)
	}
	w.elapse(demandGap + time.Second)
	if got := w.designate.called("zones"); got != 3 {
		t.Errorf("zones were listed %d times for all removals, want 3", got)
	}
	for number, intent := range intents {
		if w.observer.ListedSince(namespace, intent) == nil {
			t.Errorf("removal %d still waits for its listing", number)
		}
	}
}

func TestARemovalDoesNotCountAListingThatHadBegun(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"))
	w.designate.listing = make(chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); w.pass() }()
	<-w.designate.listing // The listing has begun.
	pool := w.updatePool("gold", wantRemoval("now"))
	intent, _ := IntentOf(pool, nil)
	if w.observer.ListedSince(namespace, intent) != nil {
		t.Error("it counts before it has ended")
	}
	<-w.designate.listing // It may end.
	<-done
	if w.view().Listing == nil || w.observer.ListedSince(namespace, intent) != nil {
		t.Error("it counts although it began before the intent was seen")
	}
	w.designate.set(func() { w.designate.listing = nil })
	w.elapse(demandGap + 2*time.Second)
	if w.observer.ListedSince(namespace, intent) == nil {
		t.Error("the next one does not count")
	}
}

func TestARemovalThatIsWantedAgainNeedsAListingOfItsOwn(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"))
	first, _ := IntentOf(w.updatePool("gold", wantRemoval("one o'clock")), nil)
	w.settle()
	if w.observer.ListedSince(namespace, first) == nil {
		t.Fatal("the first wish has no listing")
	}
	second, _ := IntentOf(w.updatePool("gold", wantRemoval("two o'clock")), nil)
	if w.observer.ListedSince(namespace, second) != nil {
		t.Error("the second wish has the first one's listing")
	}
	w.elapse(demandGap + 2*time.Second)
	if w.observer.ListedSince(namespace, second) == nil {
		t.Error("the second wish got no listing")
	}
}

func TestAListingThatIsTooOldLetsNoPoolGo(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"))
	intent, _ := IntentOf(w.updatePool("gold", wantRemoval("now")), nil)
	w.settle()
	w.clock.Step(11 * time.Minute)
	if w.observer.ListedSince(namespace, intent) != nil {
		t.Error("it does")
	}
}

func TestEveryWayOfWantingARemovalIsSeen(t *testing.T) {
	deleted := &metav1.Time{Time: noon}
	for name, test := range map[string]struct {
		pool    func(*v1alpha1.DesignatePool)
		backend func(*v1alpha1.DesignateBackend)
		want    bool
	}{
		"nobody wants it":              {want: false},
		"the bridge marked it":         {pool: wantRemoval("now"), want: true},
		"marked without a time":        {pool: wantRemoval(""), want: true},
		"the pool is deleted":          {pool: func(p *v1alpha1.DesignatePool) { p.DeletionTimestamp = deleted }, want: true},
		"its DesignateBackend deleted": {backend: func(b *v1alpha1.DesignateBackend) { b.DeletionTimestamp = deleted }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			pool, backend := designatePool("gold"), backendAt("http://one")
			if test.pool != nil {
				test.pool(pool)
			}
			if test.backend != nil {
				test.backend(backend)
			}
			if _, got := IntentOf(pool, backend); got != test.want {
				t.Errorf("removal wanted: %t, want %t", got, test.want)
			}
			if _, got := IntentOf(pool, nil); test.backend == nil && got != test.want {
				t.Errorf("without a DesignateBackend: %t, want %t", got, test.want)
			}
		})
	}
}

// R9: 100 pools do not reconcile every minute for nothing.
func TestWhoIsToldOfAnAttempt(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"), designatePool("iron"), designatePool("tin"))
	w.designate.zones = []designate.Zone{zoneOf("gold", "a.")}
	expect := func(what string, backends, pools []string) {
		t.Helper()
		if diff := cmp.Diff(backends, drained(w.backends)); diff != "" {
			t.Errorf("%s: DesignateBackends told (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(pools, drained(w.pools)); diff != "" {
			t.Errorf("%s: pools told (-want +got):\n%s", what, diff)
		}
	}
	none, backend, all := []string{}, []string{v1alpha1.BackendName}, []string{"gold", "iron", "tin"}
	next := func() { w.clock.Step(time.Minute); w.settle() }

	w.settle()
	expect("the first listing", backend, all)
	w.pass()
	expect("a pass without an attempt", none, none)
	next()
	expect("a listing with the same numbers", backend, none)
	w.designate.set(func() { w.designate.zones = append(w.designate.zones, zoneOf("iron", "b.")) })
	next()
	expect("a listing with one more zone", backend, []string{"iron"})
	w.designate.set(func() { w.designate.zones[0].Action = "UPDATE" })
	next()
	expect("a listing with a zone in another state", backend, []string{"gold"})
	next()
	next()
	expect("the time of the pool that had no news is brought up to date", backend, []string{"tin"})
	w.designate.set(func() { w.designate.failure, w.designate.failsAfter = errDown, 1 })
	next()
	expect("a failure", backend, none)
	w.updatePool("tin", wantRemoval("now"))
	next()
	expect("a failure while a removal is wanted", backend, []string{"tin"})
	w.clock.Step(10 * time.Minute)
	expect("the listing becomes too old", backend, all)
	w.designate.set(func() { w.designate.failure = nil })
	w.settle()
	expect("the first listing after that", backend, all)
}

// The timeout of an attempt may be longer than a listing counts.
func TestAListingBecomesTooOldWhileAnAttemptHangs(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"))
	w.settle()
	drained(w.backends)
	drained(w.pools)
	w.clock.Step(time.Minute)
	w.designate.set(func() { w.designate.hangs, w.designate.listing = true, make(chan struct{}) })
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.passWithin(ctx) }()
	<-w.designate.listing
	w.clock.Step(10 * time.Minute)
	if diff := cmp.Diff([]string{"gold"}, drained(w.pools)); diff != "" {
		t.Errorf("pools told (-want +got):\n%s", diff)
	}
	if len(drained(w.backends)) != 1 || w.view().Fresh(w.clock.Now()) != nil {
		t.Error("the DesignateBackend is not told that the listing is too old")
	}
	stop()
	<-done
}

func TestAControllerThatIsSlowHoldsUpNobody(t *testing.T) {
	w := worldWith(t, backendAt("http://one"), designatePool("gold"))
	w.elapse(6 * time.Hour) // Nobody takes anything from the workqueues.
	if backends, pools := w.backends.Len(), w.pools.Len(); backends != 1 || pools != 1 {
		t.Errorf("the workqueues hold %d and %d objects, want 1 each", backends, pools)
	}
	if got := w.designate.called("zones"); got < 350 {
		t.Errorf("zones were listed %d times in six hours", got)
	}
}

// For the race detector.
func TestTheObserverIsAskedWhileItListens(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("all at once", func(t *testing.T) {
		w := worldWith(t, backendAt("http://one"), designatePool("gold"))
		w.designate.zones = []designate.Zone{zoneOf("gold", "a.")}
		intent, _ := IntentOf(w.updatePool("gold", wantRemoval("now")), nil)
		stop := make(chan struct{})
		var askers sync.WaitGroup
		for _, ask := range []func(){
			func() {
				if listing := w.view().Listing; listing != nil && listing.In("gold").Total != 1 {
					t.Errorf("a half-counted listing was seen: %+v", listing)
				}
			},
			func() { w.observer.ListedSince(namespace, intent) },
			func() { w.observer.collect() },
			func() { w.observer.redirect(backendAt("http://one")) },
			func() { drained(w.pools) },
		} {
			askers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						ask()
					}
				}
			})
		}
		w.elapse(10 * time.Minute)
		close(stop)
		askers.Wait()
	})
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left, before there were %d", runtime.NumGoroutine(), before)
}

// Somebody waits for a listing that begins after a time: it is made soon, and once.
func TestAListingThatIsWaitedForIsMadeSoon(t *testing.T) {
	w := worldWith(t, backendAt("http://one"))
	w.settle()
	listed := func() int { return w.designate.called("zones") }
	before := listed()
	w.observer.Demand(namespace, w.clock.Now().Add(-time.Minute))
	w.elapse(demandGap + time.Second)
	if listed() != before {
		t.Fatal("a listing that had begun after the time did not count")
	}
	now := w.clock.Now().Add(-time.Millisecond)
	w.observer.Demand(namespace, now)
	w.elapse(demandGap + time.Second)
	if got := listed(); got != before+1 || !w.view().Listing.Began.After(now) {
		t.Errorf("listed %d times, want once more than %d", got, before)
	}
	w.observer.Demand(namespace, now)
	w.elapse(demandGap + time.Second)
	if listed() != before+1 {
		t.Error("what has been had is made again")
	}
	w.observer.Demand("elsewhere", now)
}
