package zones

import (
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

const (
	// share is how much longer than a listing takes the time between the beginnings of two is.
	share = 20
	// spread is by which part an interval is made longer or shorter at random, so that several operators do not keep step.
	spread = 0.1

	// longestRetry is the longest wait after a failure, unless the interval is longer.
	longestRetry = 5 * time.Minute

	// demandGap is how long after the end of a listing another one may be made for a removal, so that many share one.
	demandGap = 5 * time.Second

	shortestFresh = 10 * time.Minute
	freshFor      = 3
)

// history is what decides when the zones are listed next.
type history struct {
	// began and ended are those of the newest attempt; zero before there is one.
	began, ended time.Time
	// cost is how long the last complete listing took.
	cost time.Duration
	// failures is how many attempts have failed in a row; the rest of the failure is the newest one's.
	failures   int
	kind       designate.Kind
	retryAfter time.Duration
	// demanded says that a removal waits for a listing that has yet to begin.
	demanded bool
	// chance is a random number from -1 to 1, a new one for each attempt.
	chance float64
}

// next is when the zones are to be listed next, poll being how often the administrator wants it.
func (h history) next(poll time.Duration) time.Time {
	switch {
	case h.began.IsZero():
		return time.Time{}
	case h.failures > 0:
		return h.ended.Add(max(h.jittered(h.retry(poll)), h.retryAfter))
	}
	regular := h.began.Add(max(h.jittered(h.interval(poll)), share*h.cost))
	if !h.demanded {
		return regular
	}
	// A listing that takes long is not made one after the other, whatever is removed.
	if early := h.ended.Add(max(demandGap, h.cost)); early.Before(regular) {
		return early
	}
	return regular
}

// interval is how often the zones are listed while all is well.
func (h history) interval(poll time.Duration) time.Duration { return max(poll, share*h.cost) }

// fresh is how long a listing counts.
func (h history) fresh(poll time.Duration) time.Duration {
	return max(shortestFresh, freshFor*h.interval(poll))
}

// retry is the wait after a failure.
func (h history) retry(poll time.Duration) time.Duration {
	return designate.RetryDelay(h.kind, h.failures, max(poll, longestRetry))
}

func (h history) jittered(wait time.Duration) time.Duration {
	return wait + time.Duration(spread*h.chance*float64(wait))
}
