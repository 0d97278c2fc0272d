package conversion

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	defaultPool = "- name: default\n  attributes: {availability_zone: az1}\n  bindReplicas: 1\n" +
		"  nsRecords: [{hostname: ns1.example.org., priority: 1}]\n"
	edgePool = "- name: edge\n  attributes: {availability_zone: az2}\n  bindReplicas: 3\n" +
		"  nsRecords: [{hostname: ns1.edge.example.org., priority: 1}]\n"
)

// sameName is the message about a name that folds to that of the pool on another line.
func sameName(name string, line int) string {
	return fmt.Sprintf("is the same name as %q on line %d to Designate's database, which tells neither letter case nor accents "+
		"nor trailing spaces apart: choose another name", name, line)
}

// faults are the problems that a text has.
func faults(t *testing.T, text string) Problems {
	t.Helper()
	config, err := ParseMultipool(text)
	if err == nil {
		t.Fatalf("got %v, want problems", config)
	}
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got an error of type %T, want Problems: %v", err, err)
	}
	return problems
}

func TestParseMultipool(t *testing.T) {
	config, err := ParseMultipool(defaultPool + `
- name: "Golden_Pool (EU)"
  description: 'He said: "fast", #1'
  attributes: {internal: true, tier: 1, region: west, since: 2026-01-01, mode: 0777, 1: one, empty: ""}
  bindReplicas: 0
  nsRecords:
    - hostname: NS1.gold.example.org
      priority: 10000
`)
	if err != nil {
		t.Fatal(err)
	}
	want := &MultipoolConfig{
		Pools: []ConfiguredPool{
			{
				Name: "default",
				Line: 1,
				PoolSettings: v1alpha1.PoolSettings{
					Attributes:   map[string]string{"availability_zone": "az1"},
					BINDReplicas: 1,
					NSRecords:    []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
				},
			},
			{
				Name: "Golden_Pool (EU)",
				Line: 6,
				PoolSettings: v1alpha1.PoolSettings{
					Description: `He said: "fast", #1`,
					Attributes: map[string]string{
						"internal": "true", "tier": "1", "region": "west", "since": "2026-01-01", "mode": "0777", "1": "one", "empty": "",
					},
					NSRecords: []v1alpha1.NSRecord{{Hostname: "NS1.gold.example.org.", Priority: 10000}},
				},
			},
		},
		Warnings: []string{`line 11: pool "Golden_Pool (EU)": nsRecords[0].hostname: "NS1.gold.example.org" has no trailing dot ` +
			`and is taken as "NS1.gold.example.org."`},
	}
	if diff := cmp.Diff(want, config); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseMultipoolFindsEveryFault(t *testing.T) {
	for sentence, test := range map[string]struct {
		text string
		want Problems
	}{
		"several faults of several pools": {
			defaultPool + "- name: 7\n  describe: x\n  bindReplicas: '1'\n  nsRecords: [{hostname: a b, priority: 0}, x]\n- {}\n",
			Problems{
				{Line: 5, Pool: "7", Field: "name", Message: `must be text; it is the number "7": put it in quotes, as in "7"`},
				{Line: 6, Pool: "7", Message: `unknown key "describe": did you mean description?`},
				{
					Line:    7,
					Pool:    "7",
					Field:   "bindReplicas",
					Message: `must be a whole number without quotes, such as 2; it is the text "1"`,
				},
				{
					Line:    8,
					Pool:    "7",
					Field:   "nsRecords[1]",
					Message: `must be a mapping with the keys hostname and priority; it is the text "x"`,
				},
				{Line: 8, Pool: "7", Field: "nsRecords[0].hostname", Message: `"a b" is not a host name: ` +
					`write labels of 1 to 63 letters, ` +
					`digits and hyphens with single dots between, such as ns1.example.org.`},
				{Line: 8, Pool: "7", Field: "nsRecords[0].priority", Message: "must be a whole number from 1 to 10000; it is 0"},
				{Line: 9, Field: "name", Message: "is missing: add the key"},
				{Line: 9, Field: "bindReplicas", Message: "is missing: add the key"},
				{Line: 9, Field: "nsRecords", Message: "is missing: add the key"},
			},
		},
		"a misspelt key is not also a missing one": {
			"- nam: default\n  replicas: 1\n  nsrecords: []\n",
			Problems{
				{Line: 1, Message: `unknown key "nam": did you mean name?`},
				{Line: 2, Message: `unknown key "replicas": did you mean bindReplicas?`},
				{Line: 3, Message: `unknown key "nsrecords": did you mean nsRecords?`},
			},
		},
		"a key that is there twice or misspelt is judged all the same": {
			"- name: default\n  bindReplicas: -1\n  bindReplica: 1\n  bindReplicas: 1\n  nsRecords: [{hostname: ns1., priority: 1}]\n",
			Problems{
				{Line: 2, Pool: "default", Field: "bindReplicas", Message: "must be a whole number from 0 to 100; it is -1"},
				{Line: 3, Pool: "default", Message: `unknown key "bindReplica": did you mean bindReplicas?`},
				{Line: 4, Pool: "default", Field: "bindReplicas", Message: "is there twice, first on line 2: remove one of them"},
			},
		},
		"a key unlike any other": {
			defaultPool + "  catalog: true\n",
			Problems{
				{
					Line:    5,
					Pool:    "default",
					Message: `unknown key "catalog": the keys are name, description, attributes, bindReplicas, nsRecords`,
				},
			},
		},
		"a key that is no word": {
			defaultPool + "  [a]: 1\n",
			Problems{{Line: 5, Pool: "default", Message: "a key must be a word; it is a list"}},
		},
		"values of the wrong type": {
			"- name: [default]\n  description: true\n  attributes: []\n  bindReplicas: {}\n  nsRecords: ns1.example.org.\n",
			Problems{
				{Line: 1, Field: "name", Message: "must be text; it is a list: write text in quotes"},
				{
					Line:    2,
					Field:   "description",
					Message: `must be text; it is the boolean "true": put it in quotes, as in "true"`,
				},
				{
					Line:    3,
					Field:   "attributes",
					Message: "must be a mapping of keys to texts, such as availability_zone: az1; it is a list",
				},
				{Line: 4, Field: "bindReplicas", Message: "must be a whole number without quotes, such as 2; it is a mapping"},
				{
					Line:    5,
					Field:   "nsRecords",
					Message: `must be a list of host names and priorities; it is the text "ns1.example.org."`,
				},
			},
		},
		"a text of a type that is none of YAML's own": {
			strings.Replace(defaultPool, "az1", "!secret az1", 1),
			Problems{{
				Line: 2, Pool: "default", Field: `attributes["availability_zone"]`,
				Message: `the value must be text; it is of the type "!secret": write text in quotes`,
			}},
		},
		"an attribute whose key is no text": {
			strings.Replace(defaultPool, "availability_zone:", "~:", 1),
			Problems{
				{Line: 2, Pool: "default", Field: "attributes", Message: "a key must be text; it is empty: write text in quotes"},
			},
		},
		"a name that is a date": {
			defaultPool + strings.Replace(edgePool, "edge", "2026-01-01", 1),
			Problems{
				{
					Line:    5,
					Pool:    "2026-01-01",
					Field:   "name",
					Message: `must be text; it is the date "2026-01-01": put it in quotes, as in "2026-01-01"`,
				},
			},
		},
		"a merge key in a pool excuses what it may have brought": {
			defaultPool + "- <<: {bindReplicas: 1}\n  name: edge\n",
			Problems{{Line: 5, Pool: "edge", Message: mergeKeyMessage}},
		},
		"a merge key among attributes": {
			strings.Replace(defaultPool, "az1", "az1, <<: {a: b}", 1),
			Problems{{Line: 2, Pool: "default", Field: "attributes", Message: mergeKeyMessage}},
		},
		"a name that differs from another by an accent, and one by its case": {
			defaultPool + edgePool + strings.Replace(edgePool, "edge", "Édge", 1) + strings.Replace(edgePool, "edge", "EDGE", 1),
			Problems{
				{Line: 9, Pool: "Édge", Field: "name", Message: sameName("edge", 5)},
				{Line: 13, Pool: "EDGE", Field: "name", Message: sameName("edge", 5)},
			},
		},
		"no default pool": {
			edgePool,
			Problems{{Message: `there must be a pool named "default": add it`}},
		},
		"a default pool with a space behind it": {
			strings.Replace(defaultPool, "default", "'default '", 1),
			Problems{
				{
					Line:    1,
					Pool:    "default ",
					Field:   "name",
					Message: `must be exactly "default", for Designate to find the pool that it must have`,
				},
			},
		},
		"a second default pool by another spelling": {
			defaultPool + strings.Replace(edgePool, "edge", "DEFAULT", 1),
			Problems{{Line: 5, Pool: "DEFAULT", Field: "name", Message: sameName("default", 1)}},
		},
		"an escape that is no character": {
			"- name: \"\\ud800\"\n",
			Problems{{Line: 1, Message: "not YAML: found invalid Unicode character escape code"}},
		},
		"bytes that are not UTF-8": {
			defaultPool + "- name: \xff\n",
			Problems{{Line: 5, Message: "not valid UTF-8: save the text as UTF-8"}},
		},
		"a control character": {
			defaultPool + "# \x07\n",
			Problems{{Line: 5, Message: "control character U+0007: remove it"}},
		},
		"a key that is indented too little": {
			"- name: default\n bindReplicas: 1\n",
			Problems{{Line: 2, Message: "not YAML: did not find expected '-' indicator"}},
		},
		"a tab in the middle of a list": {
			defaultPool + "- name: edge\n  nsRecords:\n  \t- hostname: a\n",
			Problems{{Line: 7, Message: "indented with a tab: YAML takes only spaces there"}},
		},
		"a syntax error in a second document": {
			defaultPool + "---\n- [\n",
			Problems{{Line: 7, Message: "not YAML: did not find expected node content"}},
		},
		"a syntax error in the first line": {
			"]\n",
			Problems{{Line: 1, Message: "not YAML: did not find expected node content"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.want, faults(t, test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseMultipoolBoundsAliases(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(defaultPool + "- &a0 [x]\n")
	for i := range 80 {
		fmt.Fprintf(&bomb, "- &a%[2]d [*a%[1]d, *a%[1]d, *a%[1]d]\n", i, i+1)
	}
	if got := faults(t, bomb.String()).Error(); !strings.Contains(got, "aliases") {
		t.Errorf("got %s", got)
	}
}

func TestParseMultipoolTakesAsManyPoolsAsAllowed(t *testing.T) {
	list := func(others int) string {
		var text strings.Builder
		text.WriteString(defaultPool)
		for i := range others {
			fmt.Fprintf(&text, "- {name: p%[1]d, attributes: {n: %[1]d}, bindReplicas: 0, nsRecords: [{hostname: ns1., priority: 1}]}\n", i)
		}
		return text.String()
	}
	if _, err := ParseMultipool(list(v1alpha1.MaxPools - 1)); err != nil {
		t.Error(err)
	}
	want := Problems{{Message: "there are 501 pools: 500 at most are allowed"}}
	if diff := cmp.Diff(want, faults(t, list(v1alpha1.MaxPools))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseMultipoolWarns(t *testing.T) {
	bare := func(pool string) string {
		lines := strings.SplitAfter(pool, "\n")
		return lines[0] + strings.Join(lines[2:], "")
	}
	for sentence, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing is wrong":                           {defaultPool + edgePool, nil},
		"the default pool alone needs no attributes": {bare(defaultPool), nil},
		"a default pool without attributes beside others": {bare(defaultPool) + edgePool, []string{
			`line 1: pool "default": attributes: has none, so Designate's attribute filter finds this pool fit for every zone, ` +
				`also for those meant for another pool: give it attributes`,
		}},
		"another pool without attributes": {defaultPool + bare(edgePool), []string{
			`line 5: pool "edge": attributes: has none, so Designate's attribute filter finds this pool fit for every zone, ` +
				`also for those meant for another pool: give it attributes`,
		}},
		"two pools with equal attributes": {defaultPool + strings.Replace(edgePool, "az2", "az1", 1), []string{
			`line 6: pool "edge": attributes: are the same as those of pool "default" on line 1, so Designate's attribute filter ` +
				`cannot tell the two apart`,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := ParseMultipool(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, config.Warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseConfigMapJudgesKeysAndTextTogether(t *testing.T) {
	_, err := ParseConfigMap(&corev1.ConfigMap{
		Data:       map[string]string{"pools": edgePool, "extra": ""},
		BinaryData: map[string][]byte{"blob": nil},
	})
	want := Problems{
		{Message: `the ConfigMap has the key "extra", which is not read: only pools is; remove the other key`},
		{
			Message: `the ConfigMap has the binaryData key "blob", which is not read: the list of pools belongs under data, key pools`,
		},
		{Message: `there must be a pool named "default": add it`},
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParseMultipool(f *testing.F) {
	f.Add(defaultPool + edgePool)
	f.Add("- name: &a default\n  bindReplicas: 1\n  nsRecords: [{hostname: *a, priority: 1}]\n  description: \"\\0\\u2028\"\n")
	f.Add("- &a [*a]")
	f.Add("- <<: {}\n- !!binary x: ~\n- ? [a]\n  : b\n")
	f.Add("\ufeff%YAML 1.1\n---\n- {name: ꭰ, bindReplicas: 0x1}\r\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := ParseMultipool(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Fatalf("a message of more than one line: %q", err)
			}
			return
		}
		var pools []PoolEntry
		for _, pool := range config.Pools {
			pools = append(pools, NewPoolEntry(pool.Name, PoolID("openstack", pool.Name), pool.PoolSettings, servers("10.0.0.1"), shared))
		}
		rendered, err := RenderPoolsYAML(pools)
		if err != nil {
			t.Fatalf("a valid list cannot be rendered: %v", err)
		}
		parsed, err := ParsePoolsYAML(rendered)
		if err != nil {
			t.Fatal(err)
		}
		for i, pool := range config.Pools {
			if diff := cmp.Diff([]string{pool.Name, pool.Description}, []string{parsed[i].Name, parsed[i].Description}); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}
