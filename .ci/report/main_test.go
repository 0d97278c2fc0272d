package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunLane(t *testing.T) {
	passed := `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}`
	tests := map[string]struct {
		events  string
		specs   string
		want    counts
		wantErr string
	}{
		"a passing test is counted": {
			events: passed,
			want:   counts{Passed: 1},
		},
		"subtests are counted instead of their parents": {
			events: `{"Action":"pass","Package":"p","Test":"TestA/x/1"}
				{"Action":"pass","Package":"p","Test":"TestA/x/2"}
				{"Action":"pass","Package":"p","Test":"TestA/x"}
				{"Action":"pass","Package":"p","Test":"TestA"}
				{"Action":"skip","Package":"p","Test":"TestB"}
				{"Action":"pass","Package":"p"}`,
			want: counts{Passed: 2, Skipped: 1},
		},
		"a parent that fails on its own account counts as failed": {
			events: `{"Action":"pass","Package":"p","Test":"TestA/x"}
				{"Action":"fail","Package":"p","Test":"TestA"}
				{"Action":"fail","Package":"p"}`,
			want:    counts{Passed: 1, Failed: 1},
			wantErr: "lane unit failed",
		},
		"a failed subtest does not count again as its parent": {
			events: `{"Action":"fail","Package":"p","Test":"TestA/x"}
				{"Action":"fail","Package":"p","Test":"TestA"}
				{"Action":"fail","Package":"p"}`,
			want:    counts{Failed: 1},
			wantErr: "lane unit failed",
		},
		"a package that does not build counts as failed": {
			events:  passed + "\n" + `{"ImportPath":"q","Action":"build-fail"}` + "\n" + `{"Action":"fail","Package":"q"}`,
			want:    counts{Passed: 1, Failed: 1},
			wantErr: "lane unit failed",
		},
		"a lane without tests fails": {
			events:  `{"Action":"skip","Package":"p"}`,
			wantErr: "lane unit ran no tests",
		},
		"a lane in which every test was skipped fails": {
			events:  `{"Action":"skip","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}`,
			want:    counts{Skipped: 1},
			wantErr: "lane unit ran no tests",
		},
		"specs are counted instead of the function that runs them": {
			events: passed,
			specs: `[{"SuiteSucceeded":true,"SpecReports":[
				{"LeafNodeType":"BeforeSuite","State":"passed"},
				{"LeafNodeType":"It","State":"passed"},
				{"LeafNodeType":"It","State":"passed"},
				{"LeafNodeType":"It","State":"pending"}]}]`,
			want: counts{Passed: 2, Skipped: 1},
		},
		"a failed BeforeSuite counts as failed": {
			events:  passed,
			specs:   `[{"SuiteSucceeded":false,"SpecReports":[{"LeafNodeType":"BeforeSuite","State":"failed"}]}]`,
			want:    counts{Failed: 1},
			wantErr: "lane unit failed",
		},
		"a suite that ran no specs fails": {
			events:  passed,
			specs:   `[{"SuiteSucceeded":true,"SpecReports":[]}]`,
			wantErr: "lane unit ran no tests",
		},
		"a suite that wrote no report fails": {
			events:  passed,
			specs:   "missing",
			want:    counts{Failed: 1},
			wantErr: "the suite wrote no report",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			specsFile := ""
			if test.specs != "" {
				specsFile = filepath.Join(dir, "specs")
			}
			if test.specs != "" && test.specs != "missing" {
				if err := os.WriteFile(specsFile, []byte(test.specs), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			countsDir := filepath.Join(dir, "counts")
			err := runLane(strings.NewReader(test.events), &bytes.Buffer{}, countsDir, "unit", specsFile)
			if got := errorText(err); !strings.Contains(got, test.wantErr) || (test.wantErr == "") != (got == "") {
				t.Errorf("error is %q, want %q", got, test.wantErr)
			}
			got, err := readCounts(filepath.Join(countsDir, "unit.json"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailuresAreShownAndPassesAreNot(t *testing.T) {
	events := `{"Action":"output","Package":"p","Test":"TestGood","Output":"chatter\n"}
		{"Action":"pass","Package":"p","Test":"TestGood"}
		{"Action":"output","Package":"p","Test":"TestBad","Output":"want 1, got 2\n"}
		{"Action":"fail","Package":"p","Test":"TestBad"}
		{"Action":"fail","Package":"p","Elapsed":1.5}
		{"ImportPath":"q","Action":"build-output","Output":"q.go:1: undefined\n"}`
	var out bytes.Buffer
	if _, err := readEvents(strings.NewReader(events), &out); err != nil {
		t.Fatal(err)
	}
	want := "want 1, got 2\nfail  p  1.5s\nq.go:1: undefined\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestSum(t *testing.T) {
	dir := t.TempDir()
	for lane, c := range map[string]counts{"unit": {Passed: 3, Skipped: 1}, "suite": {Passed: 2, Failed: 1}} {
		if err := writeCounts(dir, lane, c); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := printSum(&out, dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("5 passed, 1 failed, 1 skipped\n", out.String()); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
