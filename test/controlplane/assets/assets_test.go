package assets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a folder that looks like the repository to this package.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		write(t, filepath.Join(root, sourceDir, name), name, 0o600)
	}
	return root
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestRootIsFoundFromWithin(t *testing.T) {
	root := repository(t)
	t.Chdir(filepath.Join(root, sourceDir))
	got, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if got != root {
		t.Errorf("got %s, want %s", got, root)
	}
}

func TestAProgramThatWasNotBuiltIsMissing(t *testing.T) {
	t.Setenv(DirectoryVariable, "")
	for _, program := range append([]string{Kwok}, KubernetesPrograms...) {
		_, err := Find(repository(t), program)
		if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "make control-plane") {
			t.Errorf("%s: got %v, want an error that says how to build it", program, err)
		}
	}
}

func TestAProgramIsLookedForWhereTheEnvironmentSaysFirst(t *testing.T) {
	root := repository(t)
	dir, err := kubernetesDir(root)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	t.Setenv(DirectoryVariable, elsewhere)
	write(t, filepath.Join(dir, Etcd), "", 0o700)
	write(t, filepath.Join(dir, Scheduler), "", 0o700)
	write(t, filepath.Join(elsewhere, Etcd), "", 0o700)

	for program, want := range map[string]string{Etcd: elsewhere, Scheduler: dir} {
		got, err := Find(root, program)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(got) != want {
			t.Errorf("%s is at %s, want it in %s", program, got, want)
		}
	}
}

func TestTheBinaryIsThatOfThisTreeAlone(t *testing.T) {
	root := repository(t)
	elsewhere := t.TempDir()
	t.Setenv(DirectoryVariable, elsewhere)
	write(t, filepath.Join(elsewhere, binaryName), "", 0o700)
	if path, err := Kubernetes(root); !errors.Is(err, ErrMissing) {
		t.Errorf("got %s (%v) before it was built", path, err)
	}
	dir, err := kubernetesDir(root)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, binaryName)
	write(t, want, "", 0o700)
	if got, err := Kubernetes(root); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestAnyChangeOfTheSourcesAsksForAnotherBuild(t *testing.T) {
	root := repository(t)
	seen := map[string]string{}
	record := func(change string) {
		dir, err := kubernetesDir(root)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[dir]; ok {
			t.Errorf("%s: same folder as with %s", change, other)
		}
		seen[dir] = change
	}
	record("no change")
	for _, name := range []string{"go.mod", "go.sum", "main.go", "new.go"} {
		write(t, filepath.Join(root, sourceDir, name), "changed", 0o600)
		record("a change of " + name)
	}
}

func TestTheVersionIsStampedOnServersAndClients(t *testing.T) {
	flags := linkerFlags("v1.37.2")
	for _, want := range []string{
		"k8s.io/component-base/version.gitVersion=v1.37.2", "k8s.io/client-go/pkg/version.gitVersion=v1.37.2",
		"version.gitMajor=1 ", "version.gitMinor=37 ",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("no %q in %s", want, flags)
		}
	}
}
