package conversion

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

func TestValidateSettings(t *testing.T) {
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, strings.Repeat("b", 61)}, ".") // 253 characters
	manyRecords := func(count int) (names []string) {
		for i := range count {
			names = append(names, fmt.Sprintf("ns%d.example.org.", i))
		}
		return names
	}
	attributes := func(count int) map[string]string {
		all := map[string]string{}
		for i := range count {
			all[strconv.Itoa(i)] = ""
		}
		return all
	}
	with := func(change func(*v1alpha1.PoolSettings)) v1alpha1.PoolSettings {
		s := settings("ns1.example.org.")
		change(&s)
		return s
	}
	for sentence, test := range map[string]struct {
		settings v1alpha1.PoolSettings
		want     string // part of the one problem; empty for none
	}{
		"no replicas":                 {with(func(s *v1alpha1.PoolSettings) { s.BINDReplicas = 0 }), ""},
		"as many replicas as allowed": {with(func(s *v1alpha1.PoolSettings) { s.BINDReplicas = 100 }), ""},
		"one replica more": {
			with(func(s *v1alpha1.PoolSettings) { s.BINDReplicas = 101 }),
			"bindReplicas: must be a whole number from 0 to 100; it is 101",
		},
		"fewer than no replicas": {with(func(s *v1alpha1.PoolSettings) { s.BINDReplicas = -1 }), "it is -1"},
		"a description of 160 characters": {
			with(func(s *v1alpha1.PoolSettings) { s.Description = strings.Repeat("鍵", 160) }),
			"",
		},
		"a description of 161 characters": {
			with(func(s *v1alpha1.PoolSettings) { s.Description = strings.Repeat("d", 161) }),
			"description: must have 160 characters at most; it has 161",
		},
		"a description of several lines": {with(func(s *v1alpha1.PoolSettings) { s.Description = "one\n\ttwo" }), ""},
		"a description with a NUL": {
			with(func(s *v1alpha1.PoolSettings) { s.Description = "a\x00" }),
			"description: holds a NUL character: remove it",
		},
		"a description that is not UTF-8": {
			with(func(s *v1alpha1.PoolSettings) { s.Description = "\xff" }),
			"description: is not valid UTF-8: write it anew",
		},
		"the last character of three bytes": {with(func(s *v1alpha1.PoolSettings) { s.Description = "\uffff" }), ""},
		"the first character of four bytes": {
			with(func(s *v1alpha1.PoolSettings) { s.Description = "\U00010000" }),
			"description: holds the character U+10000",
		},
		"an attribute of 50 characters": {with(func(s *v1alpha1.PoolSettings) {
			s.Attributes = map[string]string{strings.Repeat("ü", 50): strings.Repeat("ü", 50)}
		}), ""},
		"an attribute's key of 51 characters": {
			with(func(s *v1alpha1.PoolSettings) { s.Attributes = map[string]string{strings.Repeat("k", 51): ""} }),
			"the key must have 50 characters at most; it has 51",
		},
		"an attribute of 51 characters": {
			with(func(s *v1alpha1.PoolSettings) { s.Attributes = map[string]string{"k": strings.Repeat("v", 51)} }),
			`attributes["k"]: must have 50 characters at most; it has 51`,
		},
		"an attribute with an emoji": {
			with(func(s *v1alpha1.PoolSettings) { s.Attributes = map[string]string{"k": "🚀"} }),
			`attributes["k"]: holds the character U+1F680`,
		},
		"an attribute's key with a NUL": {
			with(func(s *v1alpha1.PoolSettings) { s.Attributes = map[string]string{"\x00": ""} }),
			`attributes["\x00"]: the key holds a NUL character`,
		},
		"an attribute with an empty key": {
			with(func(s *v1alpha1.PoolSettings) { s.Attributes = map[string]string{"": "x"} }),
			`attributes[""]: the key must not be empty`,
		},
		"as many attributes as allowed": {with(func(s *v1alpha1.PoolSettings) { s.Attributes = attributes(64) }), ""},
		"one attribute more": {
			with(func(s *v1alpha1.PoolSettings) { s.Attributes = attributes(65) }),
			"attributes: must be 64 at most; there are 65",
		},
		"no NS records":                     {settings(), "nsRecords: must hold at least one NS record"},
		"as many NS records as allowed":     {settings(manyRecords(64)...), ""},
		"one NS record more":                {settings(manyRecords(65)...), "nsRecords: must be 64 at most; there are 65"},
		"a host name of one label":          {settings("ns1"), ""},
		"a host name with an underscore":    {settings("_ns.example.org."), ""},
		"a label of 63 characters":          {settings(label + ".org."), ""},
		"a label of 64 characters":          {settings(label + "a.org."), "is not a host name"},
		"a label that begins with a hyphen": {settings("-ns.example.org."), "is not a host name"},
		"a label that ends with a hyphen":   {settings("ns-.example.org."), "is not a host name"},
		"an empty host name":                {settings(""), `nsRecords[0].hostname: "" is not a host name`},
		"the root":                          {settings("."), "is not a host name"},
		"a host name with a line break":     {settings("ns1.example.org.\n"), "is not a host name"},
		"a host name beyond ASCII":          {settings("ns1.exämple.org."), "is not a host name"},
		"a host name of 254 characters":     {settings(longest + "."), ""},
		"the same without its dot":          {settings(longest), ""},
		"a host name of 255 characters":     {settings("c" + longest[1:61] + "cc" + longest[62:] + "."), "too long"},
		"one host by two spellings": {
			settings("ns1.example.org.", "NS1.example.org"),
			`nsRecords[1].hostname: "NS1.example.org" is the host name of nsRecords[0] too`,
		},
		"the lowest and the highest priority": {
			with(func(s *v1alpha1.PoolSettings) { *s = settings("a.", "b."); s.NSRecords[1].Priority = 10000 }),
			"",
		},
		"a priority below the lowest": {
			with(func(s *v1alpha1.PoolSettings) { s.NSRecords[0].Priority = 0 }),
			"nsRecords[0].priority: must be a whole number from 1 to 10000; it is 0",
		},
		"a priority above the highest": {
			with(func(s *v1alpha1.PoolSettings) { s.NSRecords[0].Priority = 10001 }),
			"it is 10001",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			problems := validateSettings(test.settings)
			if test.want == "" {
				if len(problems) > 0 {
					t.Errorf("got %v, want no problem", problems)
				}
				return
			}
			if len(problems) != 1 || !strings.Contains(problems.Error(), test.want) {
				t.Errorf("got %v, want one problem with %q", problems, test.want)
			}
		})
	}
}

func TestNormalizeSettings(t *testing.T) {
	original := settings("ns1.example.org", "NS2.example.org.")
	original.Attributes = map[string]string{"region": "west"}
	kept := *original.DeepCopy()

	want := settings("ns1.example.org.", "NS2.example.org.")
	want.Attributes = map[string]string{"region": "west"}
	normal := NormalizeSettings(original)
	if diff := cmp.Diff(want, normal); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(normal, NormalizeSettings(normal)); diff != "" {
		t.Errorf("a second time changes it (-once +twice):\n%s", diff)
	}
	normal.Attributes["region"] = "east"
	if diff := cmp.Diff(kept, original); diff != "" {
		t.Errorf("the original changed (-want +got):\n%s", diff)
	}
	empty := v1alpha1.PoolSettings{Attributes: map[string]string{}, NSRecords: []v1alpha1.NSRecord{}}
	if diff := cmp.Diff(v1alpha1.PoolSettings{}, NormalizeSettings(empty)); diff != "" {
		t.Errorf("what is empty is not nil (-want +got):\n%s", diff)
	}
}
