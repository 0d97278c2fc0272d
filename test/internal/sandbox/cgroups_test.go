//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHierarchies(t *testing.T) {
	for name, test := range map[string]struct {
		mounts string
		want   []hierarchy
	}{
		"one for everything": {
			mounts: "sysfs /sys sysfs rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n",
			want:   []hierarchy{{path: "/sys/fs/cgroup", unified: true}},
		},
		"one for each controller, and one for none": {
			mounts: "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n" +
				"cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n" +
				"cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n" +
				"cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
			want: []hierarchy{
				{path: "/sys/fs/cgroup/cpu,cpuacct"}, {path: "/sys/fs/cgroup/memory"},
				{path: "/sys/fs/cgroup/unified", unified: true},
			},
		},
		"none": {mounts: "proc /proc proc rw 0 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := hierarchies([]byte(test.mounts))
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEveryControllerOfTheUnifiedHierarchyIsDelegated(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "cgroup.controllers"), "cpuset\n")
	write(t, filepath.Join(top, "cgroup.subtree_control"), "")
	if err := delegateControllers(top); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(top, "cgroup.subtree_control")); got != "+cpuset" {
		t.Errorf("asked for %q", got)
	}
}

func TestAGroupInheritsWhatItsParentHas(t *testing.T) {
	parent, group := t.TempDir(), t.TempDir()
	write(t, filepath.Join(parent, "cpuset.cpus"), "0-1\n")
	write(t, filepath.Join(group, "cpuset.cpus"), "")
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if err := inherit(parent, group, file); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(group, "cpuset.cpus")); got != "0-1" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(group, "cpuset.mems")); err == nil {
		t.Error("a file appeared that the hierarchy does not have")
	}
}

func TestGroupsAreRemovedFromTheLeavesUp(t *testing.T) {
	group := filepath.Join(t.TempDir(), "group")
	if err := os.MkdirAll(filepath.Join(group, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"a group", "a group that is gone"} {
		if err := removeDirectories(group); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(group); err == nil {
		t.Error("it is still there")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
