//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sweepPatience is for processes that have been killed and have not ended yet.
const sweepPatience = 20 * time.Second

// hierarchy is a mounted hierarchy of control groups: the only one of version 2, or one of several of version 1.
type hierarchy struct {
	path    string
	unified bool
}

// Sweep waits until nobody holds the lifeline any more and then removes the control groups of that name.
func Sweep(lifeline io.Reader, name string) error {
	if _, err := io.Copy(io.Discard, lifeline); err != nil {
		return err
	}
	return removeCgroups(name)
}

func makeCgroups(name string) error {
	return forEachHierarchy(func(h hierarchy) error {
		if h.unified {
			if err := delegateControllers(h.path); err != nil {
				return err
			}
		}
		group := filepath.Join(h.path, name)
		if err := os.Mkdir(group, 0o755); err != nil {
			return fmt.Errorf("making a control group: %w", err)
		}
		// A group of version 1 has no processors and no memory nodes until it is given some, and can then have no processes.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if h.unified {
				break
			}
			if err := inherit(h.path, group, file); err != nil {
				return err
			}
		}
		return nil
	})
}

// delegateControllers lets the groups below the top of the unified hierarchy use every controller.
func delegateControllers(top string) error {
	available, err := os.ReadFile(filepath.Join(top, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for controller := range strings.FieldsSeq(string(available)) {
		err := os.WriteFile(filepath.Join(top, "cgroup.subtree_control"), []byte("+"+controller), 0)
		if err != nil {
			return fmt.Errorf("delegating the controller %s: %w", controller, err)
		}
	}
	return nil
}

func inherit(parent, group, file string) error {
	value, err := os.ReadFile(filepath.Join(parent, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(group, file), bytes.TrimSpace(value), 0)
}

func removeCgroups(name string) error {
	return forEachHierarchy(func(h hierarchy) error { return removeTree(filepath.Join(h.path, name)) })
}

// removeTree removes a control group and all below it, as soon as its processes have ended.
func removeTree(group string) error {
	var last error
	for deadline := time.Now().Add(sweepPatience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if last = removeDirectories(group); last == nil {
			return nil
		}
	}
	return fmt.Errorf("removing the control group %s: %w", group, last)
}

func removeDirectories(group string) error {
	var directories []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			directories = append(directories, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, directory := range slices.Backward(directories) {
		if err := syscall.Rmdir(directory); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func forEachHierarchy(do func(hierarchy) error) error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range hierarchies(mounts) {
		errs = append(errs, do(h))
	}
	return errors.Join(errs...)
}

// hierarchies finds the hierarchies of control groups among mounts, as /proc/self/mounts lists them. Several controllers
// of version 1 may share one, under several names.
func hierarchies(mounts []byte) []hierarchy {
	var found []hierarchy
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[2] != "cgroup" && fields[2] != "cgroup2" {
			continue
		}
		found = append(found, hierarchy{path: fields[1], unified: fields[2] == "cgroup2"})
	}
	return found
}
