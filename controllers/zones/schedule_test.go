package zones

import (
	"testing"
	"time"

	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

func TestWhenZonesAreListedNext(t *testing.T) {
	const poll = time.Minute
	// listed is a history in which a listing has just ended.
	listed := func(cost time.Duration, change ...func(*history)) history {
		h := history{began: noon.Add(-cost), ended: noon, cost: cost}
		for _, apply := range change {
			apply(&h)
		}
		return h
	}
	chance := func(value float64) func(*history) { return func(h *history) { h.chance = value } }
	demanded := func(h *history) { h.demanded = true }
	failed := func(times int, kind designate.Kind) func(*history) {
		return func(h *history) { h.failures, h.kind = times, kind }
	}
	patience := func(wait time.Duration) func(*history) { return func(h *history) { h.retryAfter = wait } }

	for name, test := range map[string]struct {
		history history
		poll    time.Duration
		want    time.Duration // after noon
	}{
		"the interval counts from the beginning":                   {listed(time.Second), poll, 59 * time.Second},
		"at most a tenth is added to it":                           {listed(time.Second, chance(1)), poll, 65 * time.Second},
		"or taken from it":                                         {listed(time.Second, chance(-1)), poll, 53 * time.Second},
		"a listing that takes long is made less often":             {listed(10 * time.Second), poll, 190 * time.Second},
		"and never more often than that":                           {listed(10*time.Second, chance(-1)), poll, 190 * time.Second},
		"but less often at random":                                 {listed(10*time.Second, chance(1)), poll, 210 * time.Second},
		"a removal is looked at soon":                              {listed(time.Second, demanded), poll, 5 * time.Second},
		"a removal keeps an expensive listing half of the time":    {listed(10*time.Second, demanded), poll, 10 * time.Second},
		"a removal never delays a listing":                         {listed(100*time.Millisecond, demanded), 5 * time.Second, 4900 * time.Millisecond},
		"a first failure is retried soon":                          {listed(0, failed(1, designate.Unreachable)), poll, 5 * time.Second},
		"a second one after twice the time":                        {listed(0, failed(2, designate.Unreachable)), poll, 10 * time.Second},
		"a sixth one after 32 times the time":                      {listed(0, failed(6, designate.Malformed)), poll, 160 * time.Second},
		"and in the end every 5 minutes":                           {listed(0, failed(7, designate.Unreachable)), poll, 5 * time.Minute},
		"however often it fails":                                   {listed(0, failed(1_000_000, designate.Unreachable)), poll, 5 * time.Minute},
		"or every interval that is longer":                         {listed(0, failed(100, designate.Unreachable)), time.Hour, time.Hour},
		"retries are spread too":                                   {listed(0, failed(2, designate.Unreachable), chance(-1)), poll, 9 * time.Second},
		"the wait after a failure counts from the end":             {listed(40*time.Second, failed(1, designate.Unreachable)), poll, 5 * time.Second},
		"a server that asks for patience gets it":                  {listed(0, failed(1, designate.Overloaded), patience(2*time.Minute)), poll, 2 * time.Minute},
		"and no less than the wait that has come about":            {listed(0, failed(5, designate.Overloaded), patience(time.Second)), poll, 80 * time.Second},
		"a removal does not hammer a Designate that fails":         {listed(0, failed(3, designate.Unreachable), demanded), poll, 20 * time.Second},
		"refused credentials are tried again slowly":               {listed(0, failed(1, designate.Unauthorised)), poll, time.Minute},
		"unusable ones too":                                        {listed(0, failed(2, designate.Unusable)), poll, 2 * time.Minute},
		"what Designate refuses is asked again slowly":             {listed(0, failed(1, designate.Refused)), poll, time.Minute},
		"and in the end every 5 minutes, where a person is needed": {listed(0, failed(9, designate.NotFound)), poll, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.history.next(test.poll).Sub(noon); got != test.want {
				t.Errorf("the next attempt is due after %s, want %s", got, test.want)
			}
		})
	}
}

func TestTheFirstListingIsDueAtOnce(t *testing.T) {
	if got := (history{}).next(24 * time.Hour); got.After(noon) {
		t.Errorf("it is due at %s", got)
	}
}

func TestAListingCountsForThreeIntervalsAndAtLeastTenMinutes(t *testing.T) {
	for name, test := range map[string]struct {
		cost, poll, want time.Duration
	}{
		"short intervals":               {time.Second, time.Minute, 10 * time.Minute},
		"long intervals":                {time.Second, time.Hour, 3 * time.Hour},
		"intervals long by their costs": {time.Minute, time.Minute, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (history{cost: test.cost}).fresh(test.poll); got != test.want {
				t.Errorf("a listing counts for %s, want %s", got, test.want)
			}
		})
	}
}
