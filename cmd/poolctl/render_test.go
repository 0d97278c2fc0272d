package main

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/conversion"
)

var update = flag.Bool("update", false, "write the golden files anew")

// mixedText lists the default pool in the middle, and one without servers.
const mixedText = "- name: Golden (EU)\n  attributes: {zone: a}\n  bindReplicas: 2\n" +
	"  nsRecords: [{hostname: ns1.example.org., priority: 1}]\n" +
	"- name: idle\n  attributes: {zone: b}\n  bindReplicas: 0\n  nsRecords: [{hostname: ns2.example.org., priority: 1}]\n" +
	"- name: default\n  attributes: {zone: c}\n  bindReplicas: 1\n  nsRecords: [{hostname: ns3.example.org., priority: 1}]\n" +
	"- name: edge\n  attributes: {zone: d}\n  bindReplicas: 1\n  nsRecords: [{hostname: ns4.example.org., priority: 1}]\n"

func TestRenderGolden(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "pools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := poolctl(t, map[string]string{"f": mixedText}, "", "render", "f", "--primary", "192.0.2.1", "--primary=[2001:db8::1]:5355",
		"--server-cidr", "10.0.0.0/29", "--namespace", "openstack")
	if *update {
		if err := os.WriteFile(golden, []byte(got.Out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result{Out: string(want), Err: "f: note: pool \"idle\" has no servers and is left out\n"}, got); diff != "" {
		t.Errorf("(-want +got); -update writes the golden file anew:\n%s", diff)
	}
}

func TestRenderFlags(t *testing.T) {
	inNamespace := strings.Replace(manifest("designate-multipool-config", mixedText), "metadata:\n", "metadata:\n  namespace: dns\n", 1)
	type summary struct {
		IDs     []string
		KeyFile string
		Masters []conversion.Address
		Servers []string
	}
	for sentence, test := range map[string]struct {
		content   string
		arguments []string
		want      summary
	}{
		"defaults, the flags in front": {
			mixedText, []string{"--primary", "2001:db8::1", "--server-cidr", "2001:db8:1::/64", "f"},
			summary{
				IDs:     []string{defaultPoolID, conversion.PoolID("default", "Golden (EU)"), conversion.PoolID("default", "edge")},
				KeyFile: "/etc/designate/rndc-keys/rndc-key-1",
				Masters: []conversion.Address{{Host: "2001:db8::1", Port: 5354}},
				Servers: []string{"2001:db8:1::1", "2001:db8:1::2", "2001:db8:1::3", "2001:db8:1::4"},
			},
		},
		"everything set, and the namespace from the manifest": {
			inNamespace,
			[]string{
				"f", "--primary", "192.0.2.1:53", "--server-cidr", "10.0.0.0/30", "--server-cidr", "10.0.1.0/24",
				"--rndc-key-directory", "/keys", "--default-pool-id", "00000000-0000-0000-0000-000000000001",
			},
			summary{
				IDs: []string{
					"00000000-0000-0000-0000-000000000001", conversion.PoolID("dns", "Golden (EU)"), conversion.PoolID("dns", "edge"),
				},
				KeyFile: "/keys/rndc-key-1",
				Masters: []conversion.Address{{Host: "192.0.2.1", Port: 53}},
				Servers: []string{"10.0.1.1", "10.0.1.2", "10.0.1.3", "10.0.1.4"},
			},
		},
		"a namespace that is set counts more than the manifest's": {
			inNamespace, []string{"f", "--primary", "192.0.2.1", "--server-cidr", "10.0.0.0/29", "--namespace", "other"},
			summary{
				IDs:     []string{defaultPoolID, conversion.PoolID("other", "Golden (EU)"), conversion.PoolID("other", "edge")},
				KeyFile: "/etc/designate/rndc-keys/rndc-key-1",
				Masters: []conversion.Address{{Host: "192.0.2.1", Port: 5354}},
				Servers: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"},
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			run := poolctl(t, map[string]string{"f": test.content}, "", append([]string{"render"}, test.arguments...)...)
			if run.Code != 0 {
				t.Fatalf("got %+v", run)
			}
			pools, err := conversion.ParsePoolsYAML([]byte(run.Out))
			if err != nil {
				t.Fatal(err)
			}
			got := summary{KeyFile: pools[0].Targets[0].RNDCKeyFile, Masters: pools[0].Targets[0].Masters}
			for _, pool := range pools {
				got.IDs = append(got.IDs, pool.ID)
				for _, nameserver := range pool.Nameservers {
					got.Servers = append(got.Servers, nameserver.Host)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderFailures(t *testing.T) {
	two := manifest("designate-multipool-config", poolsText)
	files := map[string]string{
		"f": poolsText, "bad": "[]", "two": two + "---\n" + two, "dir/x": "",
		"idle": strings.NewReplacer("bindReplicas: 2", "bindReplicas: 0", "bindReplicas: 1", "bindReplicas: 0").Replace(poolsText),
	}
	with := func(replaced, by string, more ...string) []string {
		arguments := []string{"f", "--primary", "192.0.2.1", "--server-cidr", "10.0.0.0/29"}
		arguments[slices.Index(arguments, replaced)] = by
		return append(arguments, more...)
	}
	for sentence, test := range map[string]struct {
		arguments []string
		code      int
		want      string
	}{
		"no file":    {[]string{"--primary", "192.0.2.1", "--server-cidr", "10.0.0.0/29"}, 2, "name one file"},
		"two files":  {with("f", "f", "f"), 2, "name one file"},
		"no primary": {[]string{"f", "--server-cidr", "10.0.0.0/29"}, 2, "--primary is missing"},
		"a primary by name": {
			with("192.0.2.1", "mdns.example.org"),
			2,
			`--primary "mdns.example.org" is not an IP address`,
		},
		"a primary with port 0": {with("192.0.2.1", "192.0.2.1:0"), 2, "is not an IP address"},
		"a primary with a zone": {with("192.0.2.1", "fe80::1%eth0"), 2, "is not an IP address"},
		"a primary twice": {
			with("f", "f", "--primary", "192.0.2.1:5354"),
			2,
			"--primary 192.0.2.1:5354 is there twice",
		},
		"no network":               {[]string{"f", "--primary", "192.0.2.1"}, 2, "--server-cidr is missing"},
		"a network that is none":   {with("10.0.0.0/29", "10.0.0.0"), 2, `--server-cidr "10.0.0.0" is not a network`},
		"a network with host bits": {with("10.0.0.0/29", "10.0.0.1/29"), 2, "write 10.0.0.0/29"},
		"a network that is too small": {
			with("10.0.0.0/29", "10.0.0.0/30"),
			1,
			"f: --server-cidr 10.0.0.0/30 has 2 addresses and the servers need 3: name a larger network",
		},
		"a relative directory":         {with("f", "f", "--rndc-key-directory", "keys"), 2, "--rndc-key-directory"},
		"a directory that isn't clean": {with("f", "f", "--rndc-key-directory", "/keys/"), 2, "--rndc-key-directory"},
		"an id that is none":           {with("f", "f", "--default-pool-id", "1"), 2, "--default-pool-id"},
		"an invalid file":              {with("f", "bad"), 1, "bad: the list of pools is empty"},
		"a file with two ConfigMaps":   {with("f", "two"), 1, "two: holds 2 ConfigMaps"},
		"a file that is not there":     {with("f", "none"), 2, "open none"},
		"a directory":                  {with("f", "dir"), 2, "read dir"},
		"no pool with servers":         {with("f", "idle"), 1, "idle: no pools"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := poolctl(t, files, "", append([]string{"render"}, test.arguments...)...)
			if got.Code != test.code || got.Out != "" || !strings.Contains(got.Err, test.want) {
				t.Errorf("got %+v, want code %d and a message with %q", got, test.code, test.want)
			}
		})
	}
}

func TestHosts(t *testing.T) {
	for sentence, test := range map[string]struct {
		network string
		wanted  int
		want    []string
	}{
		"neither the network's address nor the broadcast": {"10.0.0.0/30", 9, []string{"10.0.0.1", "10.0.0.2"}},
		"both of two":                    {"10.0.0.4/31", 9, []string{"10.0.0.4", "10.0.0.5"}},
		"the one of one":                 {"10.0.0.9/32", 9, []string{"10.0.0.9"}},
		"no more than wanted":            {"10.0.0.0/8", 1, []string{"10.0.0.1"}},
		"the last of all IPv4 addresses": {"255.255.255.252/30", 9, []string{"255.255.255.253", "255.255.255.254"}},
		"IPv6 has no broadcast":          {"2001:db8::/126", 9, []string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}},
		"the last of all IPv6 addresses": {
			"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
			9,
			[]string{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, address := range hosts(netip.MustParsePrefix(test.network), test.wanted) {
				got = append(got, address.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
