// Package mutate breaks the code on purpose and requires the tests to notice.
package mutate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// sample is the variable that says which part of the mutations is tried: N/M is the N-th of M, from 1.
const sample = "MUTATE_SAMPLE"

// mutation is one way of breaking the code.
type mutation struct {
	// Name says what is broken, with the requirement that it violates.
	Name string `json:"name"`
	// File holds Old once, which New replaces.
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// Tests are the packages of which a test must go red.
	Tests []string `json:"tests"`
}

func TestMutations(t *testing.T) {
	mutations := read(t)
	tree := scratch(t)
	mutations = part(t, mutations)
	tests := []string{}
	for _, m := range mutations {
		for _, pattern := range m.Tests {
			if !slices.Contains(tests, pattern) {
				tests = append(tests, pattern)
			}
		}
	}
	if output, err := run(t.Context(), tree, append([]string{"test"}, tests...)...); err != nil {
		t.Fatalf("unbroken, the tests are red: %v\n%s", err, output)
	}
	for _, m := range mutations {
		t.Run(m.Name, func(t *testing.T) { m.try(t, tree) })
	}
}

func read(t *testing.T) []mutation {
	t.Helper()
	text, err := os.ReadFile("mutations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var mutations []mutation
	if err := yaml.UnmarshalStrict(text, &mutations); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range mutations {
		if names[m.Name] || m.Name == "" || m.File == "" || m.Old == m.New || len(m.Tests) == 0 {
			t.Fatalf("mutation %q is incomplete, or there are two of that name", m.Name)
		}
		names[m.Name] = true
	}
	return mutations
}

// part is the sample that was asked for; all without one.
func part(t *testing.T, all []mutation) []mutation {
	t.Helper()
	asked := os.Getenv(sample)
	if asked == "" {
		return all
	}
	var number, of int
	if _, err := fmt.Sscanf(asked, "%d/%d", &number, &of); err != nil || number < 1 || number > of {
		t.Fatalf("%s must be N/M with N from 1 to M, and is %q", sample, asked)
	}
	var chosen []mutation
	for i := number - 1; i < len(all); i += of {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// scratch is a copy of the module as it is, without what git ignores.
func scratch(t *testing.T) string {
	t.Helper()
	top, tree := filepath.Join("..", ".."), t.TempDir()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = top
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(top, file))
		if errors.Is(err, os.ErrNotExist) {
			continue // Deleted, and git has not been told yet.
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(tree, file)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(tree, file), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// try breaks the copy, sees that a test goes red, and mends it.
func (m *mutation) try(t *testing.T, tree string) {
	t.Helper()
	path := filepath.Join(tree, m.File)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Count(string(content), m.Old); found != 1 {
		t.Fatalf("%s holds the text to be replaced %d times, not once:\n%s", m.File, found, m.Old)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	broken := strings.Replace(string(content), m.Old, m.New, 1)
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := run(t.Context(), tree, "build", "./"+filepath.Dir(m.File)); err != nil {
		t.Fatalf("it does not compile, which proves nothing:\n%s", output)
	}
	output, err := run(t.Context(), tree, append([]string{"test", "-vet=off", "-timeout=3m"}, m.Tests...)...)
	switch {
	case err == nil:
		t.Errorf("no test of %s noticed", strings.Join(m.Tests, ", "))
	case !strings.Contains(output, "--- FAIL") && !strings.Contains(output, "panic:"):
		t.Errorf("no test went red, and yet it ended with %v:\n%s", err, output)
	}
}

func run(ctx context.Context, tree string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = tree
	output, err := command.CombinedOutput()
	return string(output), err
}
