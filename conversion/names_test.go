package conversion

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestFoldNameTakesForOneWhatTheDatabaseDoes(t *testing.T) {
	// Each pair was equal to MariaDB 10.11 under utf8mb3_general_ci.
	for sentence, pair := range map[string][2]string{
		"letter case":                        {"Edge", "edge"},
		"accents":                            {"Zürich", "zurich"},
		"trailing spaces":                    {"edge  ", "edge"},
		"a sharp s is one s, not two":        {"Straße", "strase"},
		"a final sigma":                      {"ΟΔΟΣ", "οδος"},
		"a Turkish dotless i":                {"ıstanbul", "Istanbul"},
		"a long s":                           {"maſs", "MASS"},
		"Cyrillic letter case and diacritic": {"Ёлка", "елка"},
		"a lunate sigma":                     {"ϲοφία", "σοφια"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if a, b := FoldName(pair[0]), FoldName(pair[1]); a != b {
				t.Errorf("%q folds to %q, %q to %q", pair[0], a, pair[1], b)
			}
		})
	}
}

func TestFoldNameTellsApartWhatTheDatabaseDoes(t *testing.T) {
	for sentence, pair := range map[string][2]string{
		"leading spaces":         {" edge", "edge"},
		"another character":      {"edge-1", "edge_1"},
		"a space within":         {"edge 1", "edge1"},
		"a sharp s and a double": {"Straße", "Strasse"},
		"a tab at the end":       {"edge\t", "edge"},
		"ligatures":              {"æon", "aeon"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if a, b := FoldName(pair[0]), FoldName(pair[1]); a == b {
				t.Errorf("%q and %q both fold to %q", pair[0], pair[1], a)
			}
		})
	}
}

// The names and ids below are those of objects that exist: a change of any of them would make every pool anew.

func TestObjectName(t *testing.T) {
	for sentence, test := range map[string]struct{ name, want string }{
		"a label stays as it is":                {"edge", "edge"},
		"a label of 50 characters stays":        {strings.Repeat("a", 50), strings.Repeat("a", 50)},
		"a longer label is cut":                 {strings.Repeat("a", 51), strings.Repeat("a", 50) + "-bfc5fe0e3601"},
		"no hyphen is left where it is cut":     {strings.Repeat("ab-", 30), strings.Repeat("ab-", 17) + "ddd85945da1c"},
		"other characters become hyphens":       {"Golden_Pool (EU)", "golden-pool-eu-56070d40309d"},
		"what looks altered is altered again":   {"golden-pool-eu-0123456789ab", "golden-pool-eu-0123456789ab-20fba1a64a12"},
		"accents go":                            {"Zürich", "zurich-4251685e06ca"},
		"letter case goes":                      {"Edge", "edge-0f82fe727756"},
		"a trailing space goes":                 {"edge ", "edge-ea14efdfa1bf"},
		"where nothing is readable, it says so": {"日本", "pool-cf2abf0c5be3"},
		"a dot is not part of a label":          {"edge.west", "edge-west-51fb7626f75a"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := ObjectName(test.name); got != test.want {
				t.Errorf("ObjectName(%q) = %q, want %q", test.name, got, test.want)
			}
		})
	}
}

func TestPoolID(t *testing.T) {
	if got, want := PoolID("openstack", "edge"), "0fdc7511-5628-572e-ae91-835327e5b776"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	seen := map[string]string{}
	for _, pool := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"a", "b/c"}, {"a-b", "c"}, {"a", "B"}} {
		id := PoolID(pool[0], pool[1])
		if other, taken := seen[id]; taken {
			t.Errorf("%v has the id of %s", pool, other)
		}
		seen[id] = strings.Join(pool[:], " and ")
	}
}

func FuzzObjectName(f *testing.F) {
	f.Add("edge", "Edge")
	f.Add("golden-pool-eu-56070d40309d", "Golden_Pool (EU)")
	f.Add("", " ")
	f.Add(strings.Repeat("é", 60), strings.Repeat("a-", 40))
	f.Fuzz(func(t *testing.T, first, second string) {
		name := ObjectName(first)
		if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
			t.Fatalf("ObjectName(%q) = %q: %v", first, name, errs)
		}
		if first != second && name == ObjectName(second) {
			t.Fatalf("%q and %q are both %q", first, second, name)
		}
		// A person may name a pool as another one's object is named.
		if first != name && name == ObjectName(name) {
			t.Fatalf("%q and %q are both %q", first, name, name)
		}
	})
}

func FuzzFoldName(f *testing.F) {
	f.Add("Zürich ")
	f.Add("ꭰᎠ") // Cherokee: x/text's case folding turns each of the two into the other
	f.Add("0000000000000000000000000000000\xf4Ç")
	f.Fuzz(func(t *testing.T, name string) {
		folded := FoldName(name)
		if again := FoldName(folded); again != folded {
			t.Fatalf("%q folds to %q, and that to %q", name, folded, again)
		}
		if padded := FoldName(name + "  "); padded != folded {
			t.Fatalf("%q folds to %q, with spaces behind it to %q", name, folded, padded)
		}
	})
}
