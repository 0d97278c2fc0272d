package folder

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsThereIsNotMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tools", "thing-1")
	var progress bytes.Buffer
	made := 0
	for range 2 {
		err := Make(context.Background(), dir, "a thing", &progress, func(_ context.Context, dir string) error {
			made++
			return os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Error(err)
	}
	if progress.Len() == 0 {
		t.Error("nobody was told")
	}
}

func TestWhatFailsLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	failure := errors.New("no space left")
	err := Make(context.Background(), filepath.Join(parent, "thing"), "a thing", &bytes.Buffer{}, func(_ context.Context, dir string) error {
		return errors.Join(failure, os.WriteFile(filepath.Join(dir, "half"), nil, 0o600))
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("there is %v (%v)", entries, err)
	}
}

func TestTidyRemovesWhatIsIncompleteAlone(t *testing.T) {
	parent := t.TempDir()
	for _, name := range []string{staging + "1", "thing"} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := Tidy(parent); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(parent)
	if err != nil || len(entries) != 1 || entries[0].Name() != "thing" {
		t.Errorf("there is %v (%v)", entries, err)
	}
}

func TestNobodyTidiesWhatIsBeingMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "thing")
	err := Make(context.Background(), dir, "a thing", &bytes.Buffer{}, func(_ context.Context, incomplete string) error {
		if err := Tidy(filepath.Dir(dir)); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(incomplete, "file"), nil, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Error(err)
	}
}

func TestTidyingAFolderThatIsNotThereIsNothingToDo(t *testing.T) {
	if err := Tidy(filepath.Join(t.TempDir(), "tools")); err != nil {
		t.Error(err)
	}
}

func TestKeysDependOnEveryPart(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}} {
		key := Key(parts...)
		if others, ok := seen[key]; ok {
			t.Errorf("%q and %q have the same key", parts, others)
		}
		seen[key] = parts
	}
}
