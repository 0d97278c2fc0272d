package pool

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
)

func newTSIGKey(t *testing.T) builders.Key {
	t.Helper()
	key, err := builders.NewKey(builders.TSIGKeyName("uid-edge"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestALostTSIGKey(t *testing.T) {
	theirs, present, garbled := newTSIGKey(t), newTSIGKey(t), builders.Key{Name: "garbled"}
	registered := &designate.TSIGKey{Name: theirs.Name, Algorithm: theirs.Algorithm, Secret: theirs.Secret}
	const fresh, waits, asRegistered, asPresent = "a fresh one", "waits", "as registered", "as in the Secret"
	for name, test := range map[string]struct {
		unlisted, access, known bool
		registered              *designate.TSIGKey
		present                 builders.Key
		want                    string
	}{
		"a pool that pools.yaml never named gets a fresh one":        {unlisted: true, access: true, want: fresh},
		"without access there is nobody to ask":                      {want: fresh},
		"without access one from a backup is taken":                  {present: present, want: asPresent},
		"before Designate was asked, servers go on":                  {access: true, want: waits},
		"... though a valid one was put there":                       {access: true, present: present, want: waits},
		"Designate has one":                                          {access: true, known: true, registered: registered, want: asRegistered},
		"Designate has one, and another was written into the Secret": {access: true, known: true, registered: registered, present: present, want: asRegistered},
		"Designate has one that BIND would not take":                 {access: true, known: true, registered: &designate.TSIGKey{Name: theirs.Name}, want: fresh},
		"Designate has none":                                         {access: true, known: true, want: fresh},
		"Designate has none, and there is one from a backup":         {access: true, known: true, present: present, want: asPresent},
		"Designate has none, and what is there is garbled":           {access: true, known: true, present: garbled, want: fresh},
	} {
		t.Run(name, func(t *testing.T) {
			entry := *healthy().entry
			if test.unlisted {
				entry.Servers = []ledger.Server{{Ordinal: 0, RNDCKey: 3}}
			}
			key, anew := lostTSIGKey(&entry, test.access, test.known, test.registered, test.present)
			got := waits
			switch {
			case anew:
				got = fresh
			case key != nil && *key == theirs:
				got = asRegistered
			case key != nil && *key == present:
				got = asPresent
			}
			if got != test.want {
				t.Errorf("the key is %s, want %s", got, test.want)
			}
		})
	}
}

func TestTSIGKeyReady(t *testing.T) {
	withAccess := func(s *scope) { s.backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{Endpoint: "http://one"} }
	before := func(reason string) func(*scope) {
		return func(s *scope) {
			withAccess(s)
			s.pool.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionTSIGKeyReady, Status: metav1.ConditionTrue, Reason: reason}}
		}
	}
	for name, test := range map[string]struct {
		change func(*scope)
		want   string
	}{
		"without access, people register it":                {func(*scope) {}, "Unknown " + v1alpha1.ReasonRegisteredByAdministrator},
		"before Designate was asked":                        {withAccess, "Unknown " + v1alpha1.ReasonWaitingForListing},
		"after a restart it is as it was":                   {before(v1alpha1.ReasonKeyRegistered), "True " + v1alpha1.ReasonKeyRegistered},
		"what people see to is not what it was with access": {before(v1alpha1.ReasonRegisteredByAdministrator), "Unknown " + v1alpha1.ReasonWaitingForListing},
		"the default pool has none":                         {func(s *scope) { s.entry.Name = v1alpha1.DefaultPoolName }, ""},
		"a pool that is being removed has none":             {func(s *scope) { s.entry.Removal = ledger.Withdrawing }, ""},
		"a pool without an entry has none":                  {func(s *scope) { s.entry = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			test.change(s)
			got := ""
			if c := meta.FindStatusCondition(s.conditions(), v1alpha1.ConditionTSIGKeyReady); c != nil {
				got = string(c.Status) + " " + c.Reason
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
