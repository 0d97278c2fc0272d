package conversion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// outcome is what a validation says.
type outcome struct {
	Warnings []string
	Problems Problems
}

func outcomeOf(t *testing.T, warnings []string, err error) outcome {
	t.Helper()
	if err == nil {
		return outcome{Warnings: warnings}
	}
	problems, ok := err.(Problems) //nolint:errorlint // the documented type
	if !ok {
		t.Fatalf("got an error of type %T, want Problems", err)
	}
	return outcome{Warnings: warnings, Problems: problems}
}

func TestValidatePool(t *testing.T) {
	pool := func(change func(*v1alpha1.DesignatePool)) *v1alpha1.DesignatePool {
		p := &v1alpha1.DesignatePool{
			ObjectMeta: metav1.ObjectMeta{Name: "edge"},
			Spec:       v1alpha1.DesignatePoolSpec{PoolSettings: settings("ns1.example.org.")},
		}
		p.Spec.Attributes = map[string]string{"region": "west"}
		change(p)
		return p
	}
	long := "a123456789-123456789-123456789-123456789-1234567890"
	for sentence, test := range map[string]struct {
		pool *v1alpha1.DesignatePool
		want outcome
	}{
		"a good pool": {pool(func(*v1alpha1.DesignatePool) {}), outcome{}},
		"an object's name that is too long for Designate": {
			pool(func(p *v1alpha1.DesignatePool) { p.Name = long }),
			outcome{Problems: Problems{{Field: "metadata.name", Message: "must have 50 characters at most; it has 51"}}},
		},
		"a long object's name beside a pool name": {
			pool(func(p *v1alpha1.DesignatePool) { p.Name, p.Spec.PoolName = long, "Edge" }), outcome{},
		},
		"a pool name of spaces": {
			pool(func(p *v1alpha1.DesignatePool) { p.Spec.PoolName = " \u00a0" }),
			outcome{Problems: Problems{{Field: "spec.poolName", Message: "must hold more than spaces"}}},
		},
		"a pool name with a line break": {
			pool(func(p *v1alpha1.DesignatePool) { p.Spec.PoolName = "a\nb" }),
			outcome{Problems: Problems{{Field: "spec.poolName", Message: "holds the control character U+000A: remove it"}}},
		},
		"faults of name and settings together": {
			pool(func(p *v1alpha1.DesignatePool) {
				p.Spec.PoolName = "🚀"
				p.Spec.BINDReplicas = -1
				p.Spec.NSRecords[0].Priority = 0
			}),
			outcome{Problems: Problems{
				{
					Field: "spec.poolName",
					Message: "holds the character U+1F680: Designate's database takes no characters beyond U+FFFF, " +
						"such as emoji: remove it",
				},
				{Field: "spec.bindReplicas", Message: "must be a whole number from 0 to 100; it is -1"},
				{Field: "spec.nsRecords[0].priority", Message: "must be a whole number from 1 to 10000; it is 0"},
			}},
		},
		"no attributes and no trailing dot": {
			pool(func(p *v1alpha1.DesignatePool) {
				p.Spec.Attributes = nil
				p.Spec.NSRecords[0].Hostname = "ns1.example.org"
			}),
			outcome{Warnings: []string{
				`spec.nsRecords[0].hostname: "ns1.example.org" has no trailing dot and is taken as "ns1.example.org."`,
				"spec.attributes: has none, so Designate's attribute filter finds this pool fit for every zone, also for those meant for " +
					"another pool: give it attributes",
			}},
		},
		"the default pool without attributes may be the only one": {
			pool(func(p *v1alpha1.DesignatePool) { p.Name, p.Spec.Attributes = "default", nil }), outcome{},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			warnings, err := ValidatePool(test.pool)
			if diff := cmp.Diff(test.want, outcomeOf(t, warnings, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateBackend(t *testing.T) {
	const anybody = " lets anybody send NOTIFY and try rndc: name the networks of Designate's workers and of this operator"
	for sentence, test := range map[string]struct {
		change func(*v1alpha1.DesignateBackendSpec)
		want   outcome
	}{
		"a good backend": {func(*v1alpha1.DesignateBackendSpec) {}, outcome{}},
		"no primaries": {
			func(s *v1alpha1.DesignateBackendSpec) { s.Primaries = nil },
			outcome{
				Problems: Problems{{Field: "spec.primaries", Message: "must hold at least one address: without one no zone reaches BIND"}},
			},
		},
		"a primary by host name, and one by a zoned address": {
			func(s *v1alpha1.DesignateBackendSpec) {
				s.Primaries[0].Address = "mdns.example.org"
				s.Primaries[1].Address = "fe80::1%eth0"
			},
			outcome{Problems: Problems{
				{
					Field:   "spec.primaries[0].address",
					Message: `"mdns.example.org" is not an IP address: BIND takes no host name for a primary`,
				},
				{
					Field:   "spec.primaries[1].address",
					Message: `"fe80::1%eth0" is not an IP address: BIND takes no host name for a primary`,
				},
			}},
		},
		"ports that are none": {
			func(s *v1alpha1.DesignateBackendSpec) { s.Primaries[0].Port, s.Primaries[1].Port = 0, 65536 },
			outcome{Problems: Problems{
				{Field: "spec.primaries[0].port", Message: "must be a whole number from 1 to 65535; it is 0"},
				{Field: "spec.primaries[1].port", Message: "must be a whole number from 1 to 65535; it is 65536"},
			}},
		},
		"one primary by two spellings": {
			func(s *v1alpha1.DesignateBackendSpec) {
				s.Primaries = []v1alpha1.Primary{
					{Address: "2001:db8::2", Port: 1}, {Address: "2001:db8::2", Port: 2}, {Address: "2001:DB8:0::2", Port: 1},
				}
			},
			outcome{
				Problems: Problems{{
					Field: "spec.primaries[2]", Message: "[2001:db8::2]:1 is the same primary as primaries[0]: remove one of them",
				}},
			},
		},
		"faults of the default pool": {
			func(s *v1alpha1.DesignateBackendSpec) { s.DefaultPool.NSRecords = nil },
			outcome{Problems: Problems{
				{
					Field:   "spec.defaultPool.nsRecords",
					Message: "must hold at least one NS record: Designate accepts no pool without",
				},
			}},
		},
		"no networks": {
			func(s *v1alpha1.DesignateBackendSpec) { s.BIND.ControlCIDRs = nil },
			outcome{Problems: Problems{
				{
					Field:   "spec.bind.controlCIDRs",
					Message: "must hold at least one network: without one Designate reaches no server",
				},
			}},
		},
		"networks that are none, or not written as one": {
			func(s *v1alpha1.DesignateBackendSpec) {
				s.BIND.ControlCIDRs = []string{"10.1.2.3/8", "10.0.0.0", "2001:DB8::/32", "10.0.0.0/8", "10.0.0.0/8"}
			},
			outcome{Problems: Problems{
				{Field: "spec.bind.controlCIDRs[0]", Message: `"10.1.2.3/8" is not the network's own notation: write 10.0.0.0/8`},
				{
					Field:   "spec.bind.controlCIDRs[1]",
					Message: `"10.0.0.0" is not a network in CIDR notation, such as 10.0.0.0/8 or 2001:db8::/32`,
				},
				{
					Field:   "spec.bind.controlCIDRs[2]",
					Message: `"2001:DB8::/32" is not the network's own notation: write 2001:db8::/32`,
				},
				{Field: "spec.bind.controlCIDRs[4]", Message: "10.0.0.0/8 is controlCIDRs[3] too: remove one of them"},
			}},
		},
		"an option that is refused": {
			func(s *v1alpha1.DesignateBackendSpec) {
				s.BIND.Options = []string{"minimal-responses yes;", "recursion yes;"}
			},
			outcome{Problems: Problems{{
				Field:   "spec.bind.options[1]",
				Message: "recursion is set by the operator or belongs elsewhere: remove the statement",
			}}},
		},
		"ids that are none, or not in lower case": {
			func(s *v1alpha1.DesignateBackendSpec) {
				s.Designate.DefaultPoolID = "794CCC2C-d751-44fe-b57f-8894c9f5c842"
			},
			outcome{Problems: Problems{{
				Field:   "spec.designate.defaultPoolID",
				Message: `"794CCC2C-d751-44fe-b57f-8894c9f5c842" is not a UUID in lower case, such as 794ccc2c-d751-44fe-b57f-8894c9f5c842`,
			}}},
		},
		"a directory that is not clean": {
			func(s *v1alpha1.DesignateBackendSpec) { s.Designate.RNDCKeyDirectory = "/etc/designate/../keys" },
			outcome{Problems: Problems{{
				Field:   "spec.designate.rndcKeyDirectory",
				Message: `"/etc/designate/../keys" is not a clean absolute path, such as /etc/designate/rndc-keys`,
			}}},
		},
		"a directory that is not absolute": {
			func(s *v1alpha1.DesignateBackendSpec) { s.Designate.RNDCKeyDirectory = "keys" },
			outcome{Problems: Problems{{
				Field:   "spec.designate.rndcKeyDirectory",
				Message: `"keys" is not a clean absolute path, such as /etc/designate/rndc-keys`,
			}}},
		},
		"what is legal but likely wrong": {
			func(s *v1alpha1.DesignateBackendSpec) {
				s.DefaultPool.NSRecords[0].Hostname = "ns1.example.org"
				s.BIND.ControlCIDRs = []string{"0.0.0.0/0", "::/0"}
			},
			outcome{Warnings: []string{
				`spec.defaultPool.nsRecords[0].hostname: "ns1.example.org" has no trailing dot and is taken as "ns1.example.org."`,
				"spec.bind.controlCIDRs[0]: 0.0.0.0/0" + anybody,
				"spec.bind.controlCIDRs[1]: ::/0" + anybody,
			}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			backend := &v1alpha1.DesignateBackend{Spec: v1alpha1.DesignateBackendSpec{
				Primaries:   []v1alpha1.Primary{{Address: "192.0.2.1", Port: 5354}, {Address: "2001:db8::2", Port: 5354}},
				DefaultPool: settings("ns1.example.org."),
				BIND:        v1alpha1.BINDTemplate{ControlCIDRs: []string{"10.0.0.0/8", "2001:db8::/32"}},
				Designate: v1alpha1.Designate{
					DefaultPoolID:    "794ccc2c-d751-44fe-b57f-8894c9f5c842",
					RNDCKeyDirectory: "/etc/designate/rndc-keys",
				},
			}}
			test.change(&backend.Spec)
			warnings, err := ValidateBackend(backend)
			if diff := cmp.Diff(test.want, outcomeOf(t, warnings, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
