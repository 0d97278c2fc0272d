// Package folder keeps what takes long to make in folders that are named by what they were made from. A folder that is
// there is complete.
package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// progressInterval is how often somebody who waits is told that it goes on.
const progressInterval = 20 * time.Second

// staging is how the names of folders begin that are not complete.
const staging = ".making-"

// Key is a short name for everything that something is made from.
func Key(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintln(hash, len(part), part)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// Make calls fill with an empty folder, and gives that folder its final name only when all is in it. It does nothing
// when there is a folder of that name.
func Make(ctx context.Context, dir, what string, progress io.Writer, fill func(ctx context.Context, dir string) error) error {
	switch _, err := os.Stat(dir); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// Several may make things in one folder at the same time, as long as nobody tidies it.
	unlock, err := lock(parent, syscall.LOCK_SH)
	if err != nil {
		return err
	}
	defer unlock()
	incomplete, err := os.MkdirTemp(parent, staging)
	if err != nil {
		return err
	}
	defer os.RemoveAll(incomplete)

	start := time.Now()
	elapsed := func() time.Duration { return time.Since(start).Round(time.Second) }
	fmt.Fprintf(progress, "Making %s, once.\n", what)
	stop := every(progressInterval, func() { fmt.Fprintf(progress, "Still making %s, %s so far.\n", what, elapsed()) })
	err = fill(ctx, incomplete)
	stop()
	if err != nil {
		return fmt.Errorf("making %s: %w", what, err)
	}
	if err := os.Chmod(incomplete, 0o755); err != nil {
		return err
	}
	if err := os.Rename(incomplete, dir); err != nil {
		// Somebody else may have made the same thing meanwhile; theirs is as good.
		if _, statErr := os.Stat(dir); statErr != nil {
			return err
		}
	}
	fmt.Fprintf(progress, "Made %s in %s.\n", what, elapsed())
	return nil
}

// Tidy removes what calls of Make have left that were killed. It does nothing while somebody makes something there.
func Tidy(parent string) error {
	unlock, err := lock(parent, syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer unlock()
	incomplete, err := filepath.Glob(filepath.Join(parent, staging+"*"))
	if err != nil {
		return err
	}
	for _, dir := range incomplete {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// lock locks a folder, in one of the ways that flock knows. The kernel lifts the lock of a process that has ended.
func lock(dir string, how int) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return func() { file.Close() }, nil
}

// every calls f at an interval until the returned function is called.
func every(interval time.Duration, f func()) (stop func()) {
	ticker := time.NewTicker(interval)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}
