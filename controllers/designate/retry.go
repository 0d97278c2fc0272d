package designate

import (
	"errors"
	"time"
)

const (
	// firstRetry is the wait after a first failure that may end by itself; it doubles with each further one.
	firstRetry = 5 * time.Second
	// firstPermanentRetry is the same where a person is needed. Not every person's work shows here: a role that is given
	// to the user in Keystone does not.
	firstPermanentRetry = time.Minute
)

// RetryDelay is the wait after so many failures in a row, the newest of that kind.
func RetryDelay(kind Kind, failures int, longest time.Duration) time.Duration {
	wait := firstRetry
	if needsPerson(kind) {
		wait = firstPermanentRetry
	}
	for range failures - 1 {
		if wait *= 2; wait >= longest {
			break
		}
	}
	return min(wait, longest)
}

// needsPerson says that asking again does not help.
func needsPerson(kind Kind) bool {
	switch kind {
	case Unauthorised, Unusable, Refused, NotFound, AlreadyExists, PoolNotEmpty:
		return true
	default:
		return false
	}
}

// Setback is what failed, how many times in a row, and when it may be tried again. Nothing has failed when there is no error.
type Setback struct {
	Err      error
	Failures int
	Next     time.Time
}

// After is the setback once the next attempt has failed, too, with something of a kind. Nobody waits longer than longest,
// unless the server asks for it.
func (s Setback) After(err error, kind Kind, longest time.Duration, now time.Time) Setback {
	wait := RetryDelay(kind, s.Failures+1, longest)
	if e, ok := errors.AsType[*Error](err); ok {
		wait = max(wait, e.RetryAfter)
	}
	return Setback{err, s.Failures + 1, now.Add(wait)}
}

// Waits says that the time for another attempt has not come.
func (s Setback) Waits(now time.Time) bool { return s.Err != nil && now.Before(s.Next) }
