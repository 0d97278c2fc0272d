package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/test/cases"
)

const (
	poolsText = "- name: default\n  attributes: {zone: a}\n  bindReplicas: 2\n  nsRecords: [{hostname: ns1.example.org., priority: 1}]\n" +
		"- name: edge\n  attributes: {zone: b}\n  bindReplicas: 1\n  nsRecords: [{hostname: ns2.example.org., priority: 1}]\n"
	faultyText  = "- name: default\n  bindReplicas: -1\n  nsRecords: []\n"
	warningText = "- name: default\n  bindReplicas: 1\n  nsRecords: [{hostname: ns1.example.org, priority: 1}]\n"
)

// manifest is a ConfigMap with this list of pools.
func manifest(name, pools string) string {
	indented := strings.ReplaceAll(strings.TrimSuffix(pools, "\n"), "\n", "\n    ")
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  pools: |\n    " + indented + "\n"
}

// listOf is a List with one item.
func listOf(item string) string {
	return "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n"
}

func TestValidate(t *testing.T) {
	const name = "designate-multipool-config"
	const backend = "apiVersion: designate.openstack.org/v1alpha1\nkind: DesignateBackend\nmetadata: {name: designate}\n"
	const faults = "f:line 2: pool \"default\": bindReplicas: must be a whole number from 0 to 100; it is -1\n" +
		"f:line 3: pool \"default\": nsRecords: must hold at least one NS record: Designate accepts no pool without\n"
	valid := result{Out: "f: valid, 2 pools: default, edge\n"}
	for sentence, test := range map[string]struct {
		content string
		want    result
	}{
		"a manifest":                  {manifest(name, poolsText), valid},
		"a bare list":                 {poolsText, valid},
		"a bare list behind comments": {"# pools\n\n---\n" + poolsText, valid},
		"a bare list with a BOM":      {"\ufeff" + poolsText, valid},
		"a manifest among others":     {backend + "---\n" + manifest("other", "x") + "---\n" + manifest(name, poolsText), valid},
		"a manifest in a List":        {listOf(manifest(name, poolsText)), valid},
		"a List in JSON": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap",` +
				`"metadata":{"name":"` + name + `"},"data":{"pools":"[]"}}]}`,
			result{Code: 1, Err: "f: the list of pools is empty: there must be at least the pool named \"default\"\n"},
		},
		"one pool, with a warning": {
			warningText,
			result{
				Out: "f: valid, 1 pool: default\n",
				Err: "f: warning: line 3: pool \"default\": nsRecords[0].hostname: " +
					"\"ns1.example.org\" has no trailing dot and is taken as \"ns1.example.org.\"\n",
			},
		},
		"a name that needs quotes": {
			strings.ReplaceAll(poolsText, "edge", "Edge, (EU)"),
			result{Out: "f: valid, 2 pools: default, \"Edge, (EU)\"\n"},
		},
		"faults, each on a line": {
			faultyText,
			result{
				Code: 1,
				Err:  faults,
			},
		},
		"lines count within the list": {
			manifest(name, faultyText),
			result{
				Code: 1,
				Err:  faults,
			},
		},
		"a tab in a bare list": {
			"- name: default\n\tbindReplicas: 1\n",
			result{Code: 1, Err: "f:line 2: indented with a tab: YAML takes only spaces there\n"},
		},
		"an empty file": {
			"",
			result{Code: 1, Err: "f: the list of pools is empty: there must be at least the pool named \"default\"\n"},
		},
		"a ConfigMap of another name": {
			manifest("pools", poolsText),
			result{
				Code: 1,
				Err:  "f: nothing to judge: the ConfigMap must be named \"designate-multipool-config\", and here is only \"pools\"\n",
			},
		},
		"no ConfigMap": {
			backend,
			result{
				Code: 1,
				Err:  "f: nothing to judge: here is neither a ConfigMap named \"designate-multipool-config\" nor a list of pools\n",
			},
		},
		"two ConfigMaps, one faulty": {
			manifest(name, poolsText) + "---\n" + manifest(name, "[]"),
			result{
				Code: 1,
				Out:  valid.Out,
				Err:  "f: the list of pools is empty: there must be at least the pool named \"default\"\n",
			},
		},
		"a wrong key": {
			strings.Replace(manifest(name, poolsText), "pools: |", "pools.yaml: |", 1),
			result{
				Code: 1,
				Err: "f: the ConfigMap has the key \"pools.yaml\" and no key pools, " +
					"under which the list of pools belongs: rename the key\n",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.want, poolctl(t, map[string]string{"f": test.content}, "", "validate", "f")); diff != "" {
				t.Errorf("from a file (-want +got):\n%s", diff)
			}
			test.want.Out = strings.ReplaceAll(test.want.Out, "f: ", "-: ")
			test.want.Err = strings.NewReplacer("f: ", "-: ", "f:line", "-:line").Replace(test.want.Err)
			if diff := cmp.Diff(test.want, poolctl(t, nil, test.content, "validate", "-")); diff != "" {
				t.Errorf("from the standard input (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateIsStrictAboutManifests(t *testing.T) {
	good := manifest("designate-multipool-config", poolsText)
	for sentence, test := range map[string]struct{ content, want string }{
		"an unknown field": {"datum: {}\n" + good, `unknown field "datum"`},
		"a field that is there twice": {
			strings.Replace(good, "kind:", "apiVersion: v1\nkind:", 1), `"apiVersion" already set`,
		},
		"data that is no text": {
			strings.Replace(good, "data:\n", "data:\n  n: 1\n", 1),
			"document 1: not a valid ConfigMap",
		},
		"no YAML":                     {"kind: [\n", "document 1: not a Kubernetes manifest"},
		"a fault in a later document": {good + "---\nkind: [\n", "document 2: not a Kubernetes manifest"},
		"an unknown field of a List":  {"more: 1\n" + listOf(good), `unknown field "more"`},
		"a fault within a List":       {listOf("datum: {}\n" + good), `item 1: not a valid ConfigMap`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := poolctl(t, map[string]string{"f": test.content}, "", "validate", "f")
			if got.Code != 1 || got.Out != "" || !strings.Contains(got.Err, test.want) || strings.Count(got.Err, "\n") != 1 {
				t.Errorf("got %+v, want code 1 and one line with %q", got, test.want)
			}
		})
	}
}

func TestValidateJudgesEveryFile(t *testing.T) {
	files := map[string]string{"good": poolsText, "bad": "[]", "dir/x": ""}
	const (
		goodLine = "good: valid, 2 pools: default, edge\n"
		badLine  = "bad: the list of pools is empty: there must be at least the pool named \"default\"\n"
	)
	for sentence, test := range map[string]struct {
		arguments []string
		want      result
	}{
		"all are valid": {[]string{"good", "good"}, result{Out: goodLine + goodLine}},
		"one is not":    {[]string{"bad", "good"}, result{Code: 1, Out: goodLine, Err: badLine}},
		"one is not there": {
			[]string{"none", "bad", "good"},
			result{Code: 2, Out: goodLine, Err: "poolctl: open none: no such file or directory\n" + badLine},
		},
		"one is a directory": {
			[]string{"good", "dir"},
			result{Code: 2, Out: goodLine, Err: "poolctl: read dir: is a directory\n"},
		},
		"one is the standard input": {
			[]string{"good", "-"},
			result{Code: 0, Out: goodLine + "-: valid, 2 pools: default, edge\n"},
		},
		"one begins with a hyphen": {
			[]string{"--", "-x"},
			result{Code: 2, Err: "poolctl: open -x: no such file or directory\n"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := poolctl(t, files, poolsText, append([]string{"validate"}, test.arguments...)...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateAgreesWithTheTableOfCases(t *testing.T) {
	table, err := cases.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		t.Run(c.File, func(t *testing.T) {
			got := poolctl(t, map[string]string{c.File: string(c.Manifest)}, "", "validate", c.File)
			if c.Valid {
				if got.Code != 0 || !strings.HasPrefix(got.Out, c.File+": valid, ") {
					t.Errorf("got %+v, want it to be valid", got)
				}
				return
			}
			if got.Code != 1 || got.Out != "" {
				t.Errorf("got %+v, want code 1 and an empty standard output", got)
			}
			for _, word := range c.Mentions {
				if !strings.Contains(strings.ToLower(got.Err), strings.ToLower(word)) {
					t.Errorf("the message does not mention %q:\n%s", word, got.Err)
				}
			}
		})
	}
}
