package options

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func parse(t *testing.T, args ...string) Options {
	t.Helper()
	options := Default()
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options.Bind(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatalf("parsing %q: %v", args, err)
	}
	return options
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "dns", Name: name}}
}

// delays asks a rate limiter how long the first count retries of one object wait.
func delays(limiter workqueue.TypedRateLimiter[reconcile.Request], name string, count int) []time.Duration {
	waits := make([]time.Duration, count)
	for i := range waits {
		waits[i] = limiter.When(request(name))
	}
	return waits
}

// R40: and more than 1 by default.
func TestEveryControllerWorksOnSeveralObjectsAtOnceByDefault(t *testing.T) {
	for _, name := range []string{Bridge, Pool, Backend, Zones, TSIG, Serving} {
		if got := Default().For(name).MaxConcurrentReconciles; got <= 1 {
			t.Errorf("controller %s works on %d objects at once, want more than 1", name, got)
		}
	}
}

// R40: concurrency is configurable for each controller.
func TestConcurrencyFlagsReachTheirOwnControllerOnly(t *testing.T) {
	options := parse(t, "--bridge-concurrency=7", "--pool-concurrency=8", "--backend-concurrency=9", "--zones-concurrency=10",
		"--tsig-concurrency=11", "--serving-concurrency=12")
	for name, want := range map[string]int{Bridge: 7, Pool: 8, Backend: 9, Zones: 10, TSIG: 11, Serving: 12} {
		if got := options.For(name).MaxConcurrentReconciles; got != want {
			t.Errorf("controller %s works on %d objects at once, want %d", name, got, want)
		}
	}
}

func TestAControllerOfUnknownNameIsABug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("options for a controller that does not exist were handed out")
		}
	}()
	Default().For("pools")
}

// R41: a fast first retry, and a cap.
func TestTheFirstRetryIsFastAndLaterOnesAreCapped(t *testing.T) {
	waits := delays(Default().For(Pool).RateLimiter, "gold", 50)
	if waits[0] > 50*time.Millisecond {
		t.Errorf("first retry waits %s, want 50ms at most", waits[0])
	}
	for i := 1; i < len(waits); i++ {
		if waits[i] < waits[i-1] {
			t.Errorf("retry %d waits %s, less than the one before (%s)", i+1, waits[i], waits[i-1])
		}
	}
	if last := waits[len(waits)-1]; last != 5*time.Minute {
		t.Errorf("fiftieth retry waits %s, want the cap of 5m", last)
	}
}

func TestRetryDelayFlagsChangeTheDelays(t *testing.T) {
	options := parse(t, "--retry-base-delay=1s", "--retry-max-delay=3s")
	got := delays(options.For(Bridge).RateLimiter, "designate", 4)
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second} {
		if got[i] != want {
			t.Errorf("retry %d waits %s, want %s", i+1, got[i], want)
		}
	}
}

func TestOneFailingObjectDelaysNoHealthyOne(t *testing.T) {
	limiter := Default().For(Pool).RateLimiter
	delays(limiter, "broken", 30)
	if got := limiter.When(request("healthy")); got > 50*time.Millisecond {
		t.Errorf("a healthy object waits %s behind a failing one, want 50ms at most", got)
	}
}

// R41: a global bucket.
func TestRetriesOfAllObjectsTogetherAreBounded(t *testing.T) {
	tests := map[string]struct {
		args []string
		want time.Duration // of the third object's first retry, give or take what the test itself takes
	}{
		"the burst is used up by two objects, and the third waits for a token": {
			args: []string{"--retry-qps=0.01", "--retry-burst=2"}, want: 100 * time.Second,
		},
		"a larger burst lets the third object through": {
			args: []string{"--retry-qps=0.01", "--retry-burst=3"}, want: 20 * time.Millisecond,
		},
		"more retries a second shorten the wait": {
			args: []string{"--retry-qps=0.1", "--retry-burst=2"}, want: 10 * time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			limiter := parse(t, test.args...).For(Backend).RateLimiter
			limiter.When(request("one"))
			limiter.When(request("two"))
			got := limiter.When(request("three"))
			if got > test.want || got < test.want-5*time.Second {
				t.Errorf("the third object waits %s, want about %s", got, test.want)
			}
		})
	}
}

func TestControllersDoNotShareTheirBuckets(t *testing.T) {
	options := parse(t, "--retry-qps=0.01", "--retry-burst=1")
	options.For(Pool).RateLimiter.When(request("broken"))
	if got := options.For(Bridge).RateLimiter.When(request("healthy")); got > time.Second {
		t.Errorf("the bridge waits %s because the pool controller retried", got)
	}
}

func TestReconcileTimeoutFlagEndsAHangingReconcile(t *testing.T) {
	if got := parse(t, "--reconcile-timeout=17s").For(Pool).ReconciliationTimeout; got != 17*time.Second {
		t.Errorf("a reconcile may take %s, want 17s", got)
	}
}

func TestARequestToDesignateHasATimeout(t *testing.T) {
	if got := parse(t).DesignateTimeout; got != time.Minute {
		t.Errorf("a request may take %s, want 1m", got)
	}
	if got := parse(t, "--designate-request-timeout=7s").DesignateTimeout; got != 7*time.Second {
		t.Errorf("a request may take %s, want 7s", got)
	}
}

func TestAListingOfZonesHasATimeoutOfItsOwn(t *testing.T) {
	options := parse(t, "--reconcile-timeout=17s", "--zone-listing-timeout=18m")
	if got := options.For(Zones).ReconciliationTimeout; got != 18*time.Minute {
		t.Errorf("a listing may take %s, want 18m", got)
	}
	if got := options.For(Backend).ReconciliationTimeout; got != 17*time.Second {
		t.Errorf("another reconcile may take %s, want 17s", got)
	}
}

func TestDefaultOptionsAreValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

func TestInvalidValuesAreRefusedByTheNameOfTheirFlag(t *testing.T) {
	tests := map[string]string{
		"no worker for the bridge":           "--bridge-concurrency=0",
		"fewer than no workers for pools":    "--pool-concurrency=-1",
		"no worker for the backends":         "--backend-concurrency=0",
		"a first retry without any wait":     "--retry-base-delay=0s",
		"a cap below the first wait":         "--retry-max-delay=1ms",
		"no worker for the zones":            "--zones-concurrency=0",
		"no worker for the TSIG keys":        "--tsig-concurrency=0",
		"no worker for what servers have":    "--serving-concurrency=0",
		"a listing that may take no time":    "--zone-listing-timeout=0s",
		"a request that may take no time":    "--designate-request-timeout=0s",
		"no retries at all":                  "--retry-qps=0",
		"a rate that is not a number":        "--retry-qps=NaN",
		"a burst that lets no retry through": "--retry-burst=0",
		"a reconcile that may take no time":  "--reconcile-timeout=0s",
	}
	for name, arg := range tests {
		t.Run(name, func(t *testing.T) {
			err := parse(t, arg).Validate()
			wanted, _, _ := strings.Cut(arg, "=")
			if err == nil || !strings.Contains(err.Error(), wanted) {
				t.Errorf("Validate() of %s = %v, want an error naming %s", arg, err, wanted)
			}
		})
	}
}

func TestEveryInvalidValueIsNamed(t *testing.T) {
	err := parse(t, "--pool-concurrency=0", "--retry-burst=0").Validate()
	for _, wanted := range []string{"--pool-concurrency", "--retry-burst"} {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("Validate() = %v, want it to name %s", err, wanted)
		}
	}
}
