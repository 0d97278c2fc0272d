package builders

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

func TestConfigHash(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*Pool)
		changes bool
	}{
		"one more server restarts none": {func(p *Pool) {
			p.Servers = append(p.Servers, Server{StatefulSet: p.StatefulSet, Ordinal: 2, RNDCKey: 9})
		}, false},
		"no server at all restarts none":                 {func(p *Pool) { p.Servers = nil }, false},
		"bindReplicas restart none":                      {func(p *Pool) { p.Spec.BINDReplicas = 7 }, false},
		"opening a server to clients restarts none":      {func(p *Pool) { p.Servers[1].Open = true }, false},
		"what Designate is told of a pool restarts none": {func(p *Pool) { p.Spec.Description, p.Spec.NSRecords = "other", nil }, false},
		"another option restarts all":                    {func(p *Pool) { p.Template.Options = []string{"minimal-responses yes;"} }, true},
		"another control network restarts all":           {func(p *Pool) { p.Template.ControlCIDRs = []string{"10.0.0.0/9"} }, true},
		"another TSIG key restarts all":                  {func(p *Pool) { p.TSIG.Secret = "AQ" + p.TSIG.Secret[2:] }, true},
		"another primary restarts all":                   {func(p *Pool) { p.Primaries[0].Address = "192.0.2.9" }, true},
		"another port of a primary restarts none":        {func(p *Pool) { p.Primaries[0].Port = 5356 }, false},
		"a network more restarts all":                    {func(p *Pool) { p.Template.ControlCIDRs = append(p.Template.ControlCIDRs, "192.0.2.0/24") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			changed := edge()
			test.change(changed)
			if got := configHash(changed) != configHash(edge()); got != test.changes {
				t.Errorf("the hash changed: %v, want %v", got, test.changes)
			}
		})
	}
}

var optionsBlock = regexp.MustCompile(`(?s)^options \{\n(.*?)\n\};\n`)

// statements are the names of those in the options block of named.conf.
func statements(t *testing.T, pool *Pool) []string {
	t.Helper()
	block := optionsBlock.FindStringSubmatch(namedConf(pool))
	if block == nil {
		t.Fatalf("named.conf has no options block:\n%s", namedConf(pool))
	}
	var names []string
	for line := range strings.Lines(block[1]) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	return names
}

// TestReservedOptions: BIND refuses a file that sets one option twice, so what the operator sets nobody else may.
func TestReservedOptions(t *testing.T) {
	set := statements(t, edge())
	for _, name := range set {
		if !slices.Contains(conversion.ReservedOptions, name) {
			t.Errorf("the operator sets %s, and people may set it too", name)
		}
	}
	// What is reserved though the operator does not set it.
	elsewhere := []string{"controls", "include", "key", "options", "server", "statistics-channels", "view", "zone"}
	for _, name := range conversion.ReservedOptions {
		if !slices.Contains(set, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("%s is reserved, and the operator does not set it", name)
		}
	}
}

func TestOptionsOfPeopleComeLast(t *testing.T) {
	pool := edge()
	pool.Template.Options = []string{"minimal-responses yes;", "max-cache-size 10%;"}
	want := append(statements(t, edge()), "minimal-responses", "max-cache-size")
	if diff := cmp.Diff(want, statements(t, pool)); diff != "" {
		t.Errorf("statements of the options block (-want +got):\n%s", diff)
	}
}

// TestNothingThatPeopleSayOfAPoolReachesNamedConf: only the template's options do, which are judged one by one.
func TestNothingThatPeopleSayOfAPoolReachesNamedConf(t *testing.T) {
	const evil = "\"; }; include \"/etc/passwd\";\n//"
	pool := edge()
	pool.Object, pool.Name, pool.ID = evil, evil, evil
	pool.Spec = v1alpha1.DesignatePoolSpec{PoolName: evil, PoolSettings: v1alpha1.PoolSettings{
		Description:  evil,
		Attributes:   map[string]string{evil: evil},
		BINDReplicas: 2,
		NSRecords:    []v1alpha1.NSRecord{{Hostname: evil, Priority: 1}},
	}, BIND: &v1alpha1.PoolBIND{ClientServiceAnnotations: map[string]string{evil: evil}, NodeSelector: map[string]string{evil: evil}}}
	if diff := cmp.Diff(ConfigMap(edge()).Data, ConfigMap(pool).Data); diff != "" {
		t.Errorf("the BIND configuration (-of a harmless pool +of this one):\n%s", diff)
	}
}

func TestEveryServerHasItsOwnKeyAndNoOther(t *testing.T) {
	data := ConfigMap(edge()).Data
	for pod, want := range map[string]string{"designate-backendbind9-pool2-0.conf": "rndc-key-3", "designate-backendbind9-pool2-1.conf": "rndc-key-7"} {
		used := regexp.MustCompile(`rndc-key-\d+`).FindAllString(data[pod], -1)
		if len(used) != 2 || used[0] != want || used[1] != want {
			t.Errorf("%s uses the keys %q, want %s included and allowed", pod, used, want)
		}
	}
}

func TestControlChannelsListenForTheFamiliesOfTheControlNetworks(t *testing.T) {
	for name, test := range map[string]struct {
		cidrs []string
		want  []string
	}{
		"IPv4 only":                   {[]string{"10.0.0.0/8", "192.0.2.0/24"}, []string{"*"}},
		"IPv6 only":                   {[]string{"2001:db8::/32"}, []string{"::"}},
		"both, whichever comes first": {[]string{"2001:db8::/32", "10.0.0.0/8"}, []string{"*", "::"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wildcards(test.cidrs)); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}
