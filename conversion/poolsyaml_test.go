package conversion

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

var shared = Shared{
	Primaries:        []v1alpha1.Primary{{Address: "192.0.2.1", Port: 5354}, {Address: "2001:db8::2", Port: 5355}},
	RNDCKeyDirectory: "/etc/designate/rndc-keys",
}

func servers(addresses ...string) []Server {
	var list []Server
	for i, address := range addresses {
		list = append(list, Server{Ordinal: int32(i), Address: address, RNDCKey: int32(i + 1)})
	}
	return list
}

func settings(hostnames ...string) v1alpha1.PoolSettings {
	s := v1alpha1.PoolSettings{BINDReplicas: 1}
	for i, name := range hostnames {
		s.NSRecords = append(s.NSRecords, v1alpha1.NSRecord{Hostname: name, Priority: int32(i + 1)})
	}
	return s
}

// entry is a pool that can be rendered.
func entry(name, id string) PoolEntry {
	return NewPoolEntry(name, id, settings("ns1.example.org."), servers("10.0.0.1"), shared)
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", path, diff)
	}
}

func TestRenderPoolsYAMLGolden(t *testing.T) {
	nasty := settings("ns2.example.org", "NS1.example.org.")
	nasty.NSRecords[0].Priority = 10
	nasty.NSRecords[1].Priority = 10
	nasty.Description = "He said: \"fast\", #1\n- name: injected\t{{ x }} \u2028 \\ 'ü' \x07"
	nasty.Attributes = map[string]string{"yes": "no", "10": "0777", "9": "1:30", "~": "null", "availability_zone": "2026-01-01", "=": "<<"}

	for file, pools := range map[string][]PoolEntry{
		"single-pool.yaml": {NewPoolEntry("default", "", settings("ns1.example.org."), servers("10.0.0.1", "10.0.0.2"), shared)},
		"multipool.yaml": {
			entry("default", "794ccc2c-d751-44fe-b57f-8894c9f5c842"),
			NewPoolEntry("Golden_Pool (EU): #1", PoolID("openstack", "Golden_Pool (EU): #1"), nasty,
				[]Server{{Ordinal: 1, Address: "2001:db8::11", RNDCKey: 3}, {Ordinal: 0, Address: "2001:db8::10", RNDCKey: 12}}, shared),
		},
	} {
		t.Run(file, func(t *testing.T) {
			rendered, err := RenderPoolsYAML(pools)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, file, rendered)
		})
	}
}

func TestNewPoolEntryDoesNotShowTheOrderOfItsArguments(t *testing.T) {
	forward := settings("ns1.example.org.", "ns2.example.org.", "ns3.example.org.")
	forward.NSRecords[1].Priority = forward.NSRecords[0].Priority
	backward := settings()
	for i := range forward.NSRecords {
		backward.NSRecords = append(backward.NSRecords, forward.NSRecords[len(forward.NSRecords)-1-i])
	}
	list := servers("10.0.0.1", "10.0.0.2")
	reversed := []Server{list[1], list[0]}
	want := NewPoolEntry("edge", "", forward, list, shared)
	if diff := cmp.Diff(want, NewPoolEntry("edge", "", backward, reversed, shared)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if reversed[0].Ordinal != 1 || backward.NSRecords[0].Hostname != "ns3.example.org." {
		t.Error("the arguments were sorted in place")
	}
}

func TestRenderPoolsYAMLRefuses(t *testing.T) {
	with := func(change func(*PoolEntry)) []PoolEntry {
		pool := entry("edge", "id-1")
		change(&pool)
		return []PoolEntry{entry("default", "id-0"), pool}
	}
	for sentence, test := range map[string]struct {
		pools []PoolEntry
		want  string
	}{
		"no pools":                      {nil, "no pools"},
		"a pool without a name":         {with(func(p *PoolEntry) { p.Name = "" }), "no name"},
		"a pool without NS records":     {with(func(p *PoolEntry) { p.NSRecords = nil }), "no NS records"},
		"a pool without nameservers":    {with(func(p *PoolEntry) { p.Nameservers = nil }), "no nameservers"},
		"a pool without targets":        {with(func(p *PoolEntry) { p.Targets = nil }), "no targets"},
		"a target without masters":      {with(func(p *PoolEntry) { p.Targets[0].Masters = nil }), "no masters"},
		"a target without a key":        {with(func(p *PoolEntry) { p.Targets[0].RNDCKeyFile = "" }), "no RNDC key file"},
		"a master without a port":       {with(func(p *PoolEntry) { p.Targets[0].Masters[0].Port = 0 }), "port 0"},
		"a nameserver without a host":   {with(func(p *PoolEntry) { p.Nameservers[0].Host = "" }), "no host"},
		"a port beyond the last":        {with(func(p *PoolEntry) { p.Targets[0].RNDC.Port = 65536 }), "port 65536"},
		"two pools of one name":         {with(func(p *PoolEntry) { p.Name = "default" }), `that of pool "default"`},
		"two names that fold together":  {with(func(p *PoolEntry) { p.Name = "Défault " }), `that of pool "default"`},
		"two pools of one id":           {with(func(p *PoolEntry) { p.ID = "ID-0" }), `the id of pool "default"`},
		"a description that is no text": {with(func(p *PoolEntry) { p.Description = "\xff" }), "UTF-8"},
		"an attribute that is no text":  {with(func(p *PoolEntry) { p.Attributes = map[string]string{"a": "\xff"} }), "UTF-8"},
	} {
		t.Run(sentence, func(t *testing.T) {
			rendered, err := RenderPoolsYAML(test.pools)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that mentions %q", err, test.want)
			}
			if rendered != nil {
				t.Errorf("got a text beside the error:\n%s", rendered)
			}
		})
	}
}

func TestRenderPoolsYAMLTakesSeveralPoolsWithoutID(t *testing.T) {
	if _, err := RenderPoolsYAML([]PoolEntry{entry("default", ""), entry("edge", "")}); err != nil {
		t.Error(err)
	}
}

func TestParsePoolsYAMLRefuses(t *testing.T) {
	good, err := RenderPoolsYAML([]PoolEntry{entry("default", "")})
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(from, to string) string {
		if !strings.Contains(string(good), from) {
			t.Fatalf("%q is not in:\n%s", from, good)
		}
		return strings.Replace(string(good), from, to, 1)
	}
	for sentence, text := range map[string]string{
		"an unknown key":            replaced("ns_records:", "also_notifies: []\n  ns_records:"),
		"a key that is there twice": replaced(`description: ""`, "description: \"\"\n  description: \"\""),
		"a second document":         string(good) + "---\n" + string(good),
		"another type of target":    replaced(`type: "bind9"`, `type: "pdns4"`),
		"a pool without a name":     replaced(`name: "default"`, `name: ""`),
		"a port that is no number":  replaced("port: 53", "port: fifty"),
		"a mapping":                 "pools: []",
		"no YAML":                   "{",
	} {
		t.Run(sentence, func(t *testing.T) {
			if pools, err := ParsePoolsYAML([]byte(text)); err == nil {
				t.Errorf("got %v, want an error", pools)
			}
		})
	}
}

func TestParsePoolsYAMLReadsNothingAsNoPools(t *testing.T) {
	pools, err := ParsePoolsYAML(nil)
	if err != nil || len(pools) != 0 {
		t.Errorf("got %v and error %v, want no pools", pools, err)
	}
}

func FuzzRenderPoolsYAML(f *testing.F) {
	f.Add("edge", "fast: #1", "region", "west", "ns1.example.org.", "10.0.0.1", int32(3))
	f.Add("yes", "- name: injected\n\t\"\\", "<<", "~", "=", "::1", int32(1))
	f.Add("\ufeff", "\u2028\u0085\x00\u007f", " a", "a ", "\ufffe", "\U0001f680", int32(9))
	f.Add("pool", "", strings.Repeat("鍵", 50), "a\nb", "ns1.example.org.", "::1", int32(1))
	f.Fuzz(func(t *testing.T, name, description, key, value, hostname, address string, number int32) {
		pool := NewPoolEntry(name, "", v1alpha1.PoolSettings{
			Description: description,
			Attributes:  map[string]string{key: value, value: key},
			NSRecords:   []v1alpha1.NSRecord{{Hostname: hostname, Priority: number}},
		}, []Server{{Ordinal: number, Address: address, RNDCKey: number}}, shared)
		pools := []PoolEntry{pool, entry(name+"-", name)}
		rendered, err := RenderPoolsYAML(pools)
		renderable := name != "" && address != "" && utf8.ValidString(name+"|"+description+"|"+key+"|"+value+"|"+hostname+"|"+address)
		if (err == nil) != renderable {
			t.Fatalf("got error %v for %+v", err, pool)
		}
		if !renderable {
			return
		}
		parsed, err := ParsePoolsYAML(rendered)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, rendered)
		}
		if diff := cmp.Diff(pools, parsed, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s\nin:\n%s", diff, rendered)
		}
		again, err := RenderPoolsYAML(parsed)
		if err != nil || string(again) != string(rendered) {
			t.Fatalf("rendered anew (error %v):\n%s\ninstead of:\n%s", err, again, rendered)
		}
	})
}
