package zones

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// seen is what is known after a listing that began some time ago.
func seen(ago time.Duration) View {
	began := noon.Add(-ago)
	return View{FreshFor: 10 * time.Minute, Listing: &Listing{Began: began, Ended: began.Add(time.Second), Total: 5, Pools: map[string]*PoolZones{
		"gold": {Total: 3, Names: []string{"a.example.", "b.example.", "c.example."}, States: map[State]int{
			{"PENDING", "UPDATE"}: 1, {"ACTIVE", "NONE"}: 1, {"PENDING", "DELETE"}: 1,
		}},
	}}}
}

// told is a pool's status of that listing, from some time ago.
func told(ago time.Duration) *v1alpha1.PoolZones {
	return &v1alpha1.PoolZones{Total: 3, Names: []string{"a.example.", "b.example.", "c.example."}, States: []v1alpha1.ZoneState{
		{Status: "ACTIVE", Action: "NONE", Count: 1}, {Status: "PENDING", Action: "DELETE", Count: 1}, {Status: "PENDING", Action: "UPDATE", Count: 1},
	}, ObservedAt: metav1.NewTime(noon.Add(-ago))}
}

func failing(view View, err error) View {
	view.Failure, view.FailedAt, view.FailingSince, view.FreshFor = err, noon, noon.Add(-time.Minute), 10*time.Minute
	return view
}

func TestPoolStatus(t *testing.T) {
	none := func(ago time.Duration) *v1alpha1.PoolZones {
		return &v1alpha1.PoolZones{ObservedAt: metav1.NewTime(noon.Add(-ago))}
	}
	for name, test := range map[string]struct {
		view    View
		pool    string
		current *v1alpha1.PoolZones
		want    *v1alpha1.PoolZones
	}{
		"nobody has asked, and nothing was known":         {View{}, "gold", nil, nil},
		"nobody has asked since a restart":                {View{}, "gold", told(time.Hour), told(time.Hour)},
		"a first listing":                                 {seen(time.Second), "gold", nil, told(time.Second)},
		"a pool without zones has 0 of them":              {seen(time.Second), "iron", nil, none(time.Second)},
		"the same numbers a little later are no news":     {seen(time.Second), "gold", told(2 * time.Minute), told(2 * time.Minute)},
		"the time is brought up to date now and then":     {seen(time.Second), "gold", told(6 * time.Minute), told(time.Second)},
		"a time that lies ahead is put right":             {seen(time.Second), "gold", told(-time.Hour), told(time.Second)},
		"other numbers are told at once":                  {seen(time.Second), "gold", none(2 * time.Minute), told(time.Second)},
		"a listing that is too old says nothing":          {seen(11 * time.Minute), "gold", told(11 * time.Minute), nil},
		"a failure leaves what is young enough":           {failing(seen(time.Minute), errors.New("no")), "gold", told(time.Minute), told(time.Minute)},
		"a failure after a restart leaves it as well":     {failing(View{}, errors.New("no")), "gold", told(time.Minute), told(time.Minute)},
		"and nothing that is too old":                     {failing(View{}, errors.New("no")), "gold", told(11 * time.Minute), nil},
		"a failure makes no 0 of what was never known":    {failing(View{}, errors.New("no")), "gold", nil, nil},
		"a failure makes no 0 of what has become too old": {failing(seen(11*time.Minute), errors.New("no")), "gold", told(11 * time.Minute), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := test.view.PoolStatus(test.pool, test.current, noon)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackendStatus(t *testing.T) {
	told := func(total int32, ago time.Duration) *v1alpha1.ZoneListing {
		began := noon.Add(-ago)
		return &v1alpha1.ZoneListing{Total: total, Began: metav1.NewTime(began), Ended: metav1.NewTime(began.Add(time.Second))}
	}
	for name, test := range map[string]struct {
		view          View
		current, want *v1alpha1.ZoneListing
	}{
		"nobody has asked, and nothing was known":      {View{}, nil, nil},
		"nobody has asked since a restart":             {View{}, told(9, time.Hour), told(9, time.Hour)},
		"a first listing":                              {seen(time.Second), nil, told(5, time.Second)},
		"the same number a little later is no news":    {seen(time.Second), told(5, 2*time.Minute), told(5, 2*time.Minute)},
		"the time is brought up to date now and then":  {seen(time.Second), told(5, 6*time.Minute), told(5, time.Second)},
		"another number is told at once":               {seen(time.Second), told(4, 2*time.Minute), told(5, time.Second)},
		"a listing that is too old says nothing":       {seen(11 * time.Minute), told(5, 11*time.Minute), nil},
		"a failure leaves what is young enough":        {failing(View{}, errors.New("no")), told(5, time.Minute), told(5, time.Minute)},
		"a failure leaves nothing that is too old":     {failing(View{}, errors.New("no")), told(5, 11*time.Minute), nil},
		"a failure makes no 0 of what was never known": {failing(View{}, errors.New("no")), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := test.view.BackendStatus(test.current, noon)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStatusIsLookedAtAgainWhenItBecomesTooOld(t *testing.T) {
	for name, test := range map[string]struct {
		view    View
		current *v1alpha1.PoolZones
		want    time.Duration
	}{
		"of a fresh listing":               {seen(4 * time.Minute), nil, 6*time.Minute + time.Second},
		"while the newest attempt fails":   {failing(View{}, errors.New("no")), told(4 * time.Minute), 6*time.Minute + time.Second},
		"soon, before the first attempt":   {View{}, told(time.Hour), time.Minute},
		"never, when there is none":        {View{}, nil, 0},
		"never, when it is too old by now": {failing(View{}, errors.New("no")), told(time.Hour), 0},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := test.view.PoolStatus("gold", test.current, noon)
			if got != test.want {
				t.Fatalf("looks again after %s, want %s", got, test.want)
			}
			if got == 0 || !test.view.Attempted() {
				return
			}
			if later, _ := test.view.PoolStatus("gold", status, noon.Add(got)); later != nil {
				t.Errorf("by then the status is %+v, want none", later)
			}
			if sooner, _ := test.view.PoolStatus("gold", status, noon.Add(got-2*time.Second)); sooner == nil {
				t.Error("two seconds before there is no status any more")
			}
		})
	}
}

func TestReachable(t *testing.T) {
	is := func(kind designate.Kind) View {
		return failing(seen(time.Minute), &designate.Error{Kind: kind, Operation: "list zones"})
	}
	for name, test := range map[string]struct {
		view   View
		status metav1.ConditionStatus
		reason string
	}{
		"nobody has asked":               {View{}, metav1.ConditionUnknown, v1alpha1.ReasonWaitingForListing},
		"all is well":                    {seen(time.Minute), metav1.ConditionTrue, v1alpha1.ReasonReachable},
		"the listing does not end":       {seen(11 * time.Minute), metav1.ConditionUnknown, v1alpha1.ReasonZonesUnknown},
		"no answer":                      {is(designate.Unreachable), metav1.ConditionFalse, v1alpha1.ReasonDesignateUnreachable},
		"an error of unknown kind":       {failing(View{}, errors.New("no")), metav1.ConditionFalse, v1alpha1.ReasonDesignateUnreachable},
		"patience is asked for":          {is(designate.Overloaded), metav1.ConditionFalse, v1alpha1.ReasonDesignateOverloaded},
		"the credentials are refused":    {is(designate.Unauthorised), metav1.ConditionFalse, v1alpha1.ReasonCredentialsRefused},
		"the credentials are unusable":   {is(designate.Unusable), metav1.ConditionFalse, v1alpha1.ReasonCredentialsUnusable},
		"an answer that cannot be right": {is(designate.Malformed), metav1.ConditionFalse, v1alpha1.ReasonDesignateAnswerUnusable},
		"there is no such list":          {is(designate.NotFound), metav1.ConditionFalse, v1alpha1.ReasonDesignateRefuses},
		"Designate says no":              {is(designate.Refused), metav1.ConditionFalse, v1alpha1.ReasonDesignateRefuses},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.view.Reachable(noon)
			if got.Type != v1alpha1.ConditionDesignateReachable || got.Status != test.status || got.Reason != test.reason || got.Message == "" {
				t.Errorf("got %+v, want %s %s", got, test.status, test.reason)
			}
		})
	}
}
