// Package e2e holds the rules that every suite keeps.
package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// suite is as much of a chainsaw test as the rules are about.
type suite struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Steps []struct {
			Name string `json:"name"`
			Try  []struct {
				Script *struct {
					Content string `json:"content"`
				} `json:"script"`
			} `json:"try"`
		} `json:"steps"`
	} `json:"spec"`
}

func TestEverySuiteKeepsTheRules(t *testing.T) {
	files, err := filepath.Glob("*/*/chainsaw-test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no suites")
	}
	for _, file := range files {
		t.Run(filepath.Dir(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s suite
			if err := yaml.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			if s.Metadata.Name != filepath.Base(filepath.Dir(file)) {
				t.Errorf("its name is %q and not that of its folder", s.Metadata.Name)
			}
			if readme, err := os.ReadFile(filepath.Join(filepath.Dir(file), "README.md")); err != nil || len(readme) == 0 {
				t.Errorf("it does not say what it is about: %v", err)
			}
			checkScripts(t, s)
		})
	}
}

// checkScripts finds scripts of several lines that would go on after a line that failed, and suites without any.
func checkScripts(t *testing.T, s suite) {
	t.Helper()
	scripts := 0
	for _, step := range s.Spec.Steps {
		for _, try := range step.Try {
			if try.Script == nil {
				continue
			}
			scripts++
			content := strings.TrimSpace(try.Script.Content)
			if strings.Contains(content, "\n") && !strings.HasPrefix(content, "set -eu\n") {
				t.Errorf("step %q: a script does not begin with `set -eu`", step.Name)
			}
		}
	}
	if scripts == 0 {
		t.Error("it asks no client")
	}
}
