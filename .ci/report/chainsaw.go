package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// testFile is what makes a folder a suite of chainsaw.
const testFile = "chainsaw-test.yaml"

// chainsawRun is a run of chainsaw that is over.
type chainsawRun struct {
	// report is the file that it was to write.
	report string
	// ended is its exit code.
	ended int
	// top is the folder where it was started, with these paths.
	top   string
	paths []string
}

// runChainsaw keeps and judges the counts of a lane that was run by chainsaw.
func runChainsaw(out io.Writer, dir, lane string, run chainsawRun) error {
	folders, err := chainsawFolders(run.top, run.paths)
	if err != nil {
		return errors.Join(err, writeCounts(dir, lane, counts{Failed: 1}))
	}
	total, took, err := readChainsaw(run.report, folders)
	// A cleanup that fails is in the exit code alone.
	if run.ended != 0 && total.Failed == 0 {
		total.Failed = 1
	}
	fmt.Fprintf(out, "%s: %s in %s\n", lane, total, took.Round(time.Second))
	return errors.Join(err, keep(dir, lane, total))
}

// chainsawReport is as much of what chainsaw writes with `--report-format JSON` as tells what became of each test.
type chainsawReport struct {
	StartTime time.Time      `json:"startTime"`
	EndTime   time.Time      `json:"endTime"`
	Tests     []chainsawTest `json:"tests"`
}

type chainsawTest struct {
	// BasePath is the folder of the test, as seen from where chainsaw was started.
	BasePath string `json:"basePath"`
	Skipped  bool   `json:"skipped"`
	Steps    []struct {
		Operations []struct {
			Failure *struct{} `json:"failure"`
		} `json:"operations"`
	} `json:"steps"`
}

// outcome is that of a test of go test. A test that did nothing has not passed.
func (t chainsawTest) outcome() string {
	if t.Skipped {
		return "skip"
	}
	operations := 0
	for _, step := range t.Steps {
		for _, operation := range step.Operations {
			if operation.Failure != nil {
				return "fail"
			}
			operations++
		}
	}
	if operations == 0 {
		return "fail"
	}
	return "pass"
}

// readChainsaw counts the tests in a report of chainsaw, and a folder that is not in it as a skipped one. Whatever was
// skipped is an error as well: chainsaw itself is satisfied with tests that it passed over or never found.
func readChainsaw(file string, folders []string) (c counts, took time.Duration, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return counts{Failed: 1}, 0, fmt.Errorf("chainsaw wrote no report: %w", err)
	}
	var report chainsawReport
	if err := json.Unmarshal(content, &report); err != nil {
		return counts{Failed: 1}, 0, fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	reported := map[string]bool{}
	for _, test := range report.Tests {
		reported[test.BasePath] = true
		switch test.outcome() {
		case "pass":
			c.Passed++
		case "fail":
			c.Failed++
		case "skip":
			c.Skipped++
			errs = append(errs, fmt.Errorf("%s was skipped", test.BasePath))
		}
	}
	for _, folder := range folders {
		if !reported[folder] {
			c.Skipped++
			errs = append(errs, fmt.Errorf("%s did not run", folder))
		}
	}
	return c, report.EndTime.Sub(report.StartTime), errors.Join(errs...)
}

// chainsawFolders are the folders that chainsaw has to report on when it is given these paths below a folder: each that
// is a suite itself, and everything in the others, for whatever is there should be a suite.
func chainsawFolders(top string, paths []string) ([]string, error) {
	var folders []string
	for _, path := range paths {
		_, err := os.Stat(filepath.Join(top, path, testFile))
		if err == nil {
			folders = append(folders, path)
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		entries, err := os.ReadDir(filepath.Join(top, path))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsDir() {
				folders = append(folders, filepath.Join(path, entry.Name()))
			}
		}
	}
	return folders, nil
}
