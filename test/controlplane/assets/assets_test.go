package assets

import (
	"bytes"
	"context"
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
	for _, program := range append([]string{Kwok}, kubernetesPrograms...) {
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

func TestBuildInto(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), toolsDir, "thing-1")
	var progress bytes.Buffer
	builds := 0
	build := func(_ context.Context, staging string) error {
		builds++
		write(t, filepath.Join(staging, "program"), "", 0o700)
		return nil
	}
	fail := func(_ context.Context, staging string) error {
		write(t, filepath.Join(staging, "half"), "", 0o700)
		return errors.New("no space left")
	}

	if err := buildInto(ctx, dir, &progress, "a thing", fail); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Fatalf("got %v, want the error of the build", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 0 {
		t.Fatalf("a failed build left %v (%v)", entries, err)
	}
	for range 2 {
		if err := buildInto(ctx, dir, &progress, "a thing", build); err != nil {
			t.Fatal(err)
		}
	}
	if builds != 1 {
		t.Errorf("built %d times, want once", builds)
	}
	if !isExecutable(filepath.Join(dir, "program")) {
		t.Error("the program is not where it was to be built")
	}
	if !strings.Contains(progress.String(), "this takes minutes") {
		t.Errorf("nobody was told that this takes long: %q", progress.String())
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
