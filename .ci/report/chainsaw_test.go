package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tests as chainsaw reports them.
const (
	addPassed = `{"basePath":"suites/add","name":"add","steps":[
		{"name":"backend","operations":[{"name":"operation 1","type":"apply"}]},
		{"name":"two pools","operations":[{"name":"operation 1","type":"script"}]}]}`
	killedPassed  = `{"basePath":"node/killed","name":"killed","steps":[{"operations":[{"type":"script"}]}]}`
	killedFailed  = `{"basePath":"node/killed","name":"killed","steps":[{"operations":[{"type":"script","failure":{"error":"exit status 1"}}]}]}`
	killedSkipped = `{"basePath":"node/killed","name":"killed","skipped":true}`
	killedEmpty   = `{"basePath":"node/killed","name":"killed","steps":[{"name":"backend"}]}`
)

func TestRunChainsaw(t *testing.T) {
	tests := map[string]struct {
		// tests are what is in the report; there is none when nil.
		tests   []string
		ended   int
		paths   []string
		want    counts
		wantErr string
	}{
		"every test of chainsaw is one test": {
			tests: []string{addPassed, killedPassed},
			want:  counts{Passed: 2},
		},
		"an operation that failed is a test that failed": {
			tests:   []string{addPassed, killedFailed},
			ended:   1,
			want:    counts{Passed: 1, Failed: 1},
			wantErr: "lane e2e failed",
		},
		"a folder that is not in the report did not run": {
			tests:   []string{addPassed},
			want:    counts{Passed: 1, Skipped: 1},
			wantErr: "node/killed did not run",
		},
		"a folder that was not asked for may be missing": {
			tests: []string{addPassed},
			paths: []string{"suites/add"},
			want:  counts{Passed: 1},
		},
		"a skipped test fails the lane": {
			tests:   []string{addPassed, killedSkipped},
			want:    counts{Passed: 1, Skipped: 1},
			wantErr: "node/killed was skipped",
		},
		"a test that did nothing has failed": {
			tests:   []string{addPassed, killedEmpty},
			want:    counts{Passed: 1, Failed: 1},
			wantErr: "lane e2e failed",
		},
		"a failure that is in no operation counts as failed": {
			tests:   []string{addPassed, killedPassed},
			ended:   1,
			want:    counts{Passed: 2, Failed: 1},
			wantErr: "lane e2e failed",
		},
		"a run without a report fails": {
			ended:   1,
			want:    counts{Failed: 1},
			wantErr: "chainsaw wrote no report",
		},
		"a report of nothing fails": {
			tests:   []string{},
			want:    counts{Skipped: 2},
			wantErr: "lane e2e ran no tests",
		},
		"a path that is not there fails": {
			tests:   []string{addPassed},
			paths:   []string{"suites", "elsewhere"},
			want:    counts{Failed: 1},
			wantErr: "elsewhere",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := chainsawRun{report: filepath.Join(dir, "e2e.json"), ended: test.ended, top: filepath.Join(dir, "e2e"), paths: test.paths}
			if run.paths == nil {
				run.paths = []string{"suites", "node"}
			}
			addFile(t, filepath.Join(run.top, "suites", "add", testFile), "")
			// A folder without a test, such as one whose test has another name, should have been run like any other.
			addFile(t, filepath.Join(run.top, "node", "killed", "README.md"), "")
			if test.tests != nil {
				addFile(t, run.report, `{"name":"chainsaw-report","tests":[`+strings.Join(test.tests, ",")+`]}`)
			}
			countsDir := filepath.Join(dir, "counts")
			err := runChainsaw(&bytes.Buffer{}, countsDir, "e2e", run)
			if got := errorText(err); !strings.Contains(got, test.wantErr) || (test.wantErr == "") != (got == "") {
				t.Errorf("error is %q, want %q", got, test.wantErr)
			}
			got, err := readCounts(filepath.Join(countsDir, "e2e.json"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALaneOfChainsawSaysHowLongItTook(t *testing.T) {
	dir := t.TempDir()
	run := chainsawRun{report: filepath.Join(dir, "e2e.json"), top: dir, paths: []string{"suites"}}
	addFile(t, filepath.Join(dir, "suites", "add", testFile), "")
	addFile(t, run.report, `{"startTime":"2026-01-01T12:00:00.4Z","endTime":"2026-01-01T12:05:05.3Z","tests":[`+addPassed+`]}`)
	var out bytes.Buffer
	if err := runChainsaw(&out, filepath.Join(dir, "counts"), "e2e", run); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("e2e: 1 passed, 0 failed, 0 skipped in 5m5s\n", out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func addFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
