package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

type testID struct{ pkg, test string }

// events are what a stream of test events amounts to.
type events struct {
	outcomes      map[testID]string
	packageFailed bool

	output map[testID][]string
}

// readEvents reads to the end of the stream, and writes a line for each package and the output of what failed.
func readEvents(in io.Reader, out io.Writer) (*events, error) {
	e := &events{outcomes: map[testID]string{}, output: map[testID][]string{}}
	decoder := json.NewDecoder(in)
	for {
		var next event
		err := decoder.Decode(&next)
		if errors.Is(err, io.EOF) {
			return e, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading test events: %w", err)
		}
		e.add(next, out)
	}
}

func (e *events) add(next event, out io.Writer) {
	id := testID{next.Package, next.Test}
	switch next.Action {
	case "build-output":
		fmt.Fprint(out, next.Output)
	case "build-fail":
		e.packageFailed = true
	case "output":
		e.output[id] = append(e.output[id], next.Output)
	case "pass", "fail", "skip":
		e.end(id, next, out)
	}
}

func (e *events) end(id testID, last event, out io.Writer) {
	if last.Action == "fail" {
		fmt.Fprint(out, strings.Join(e.output[id], ""))
	}
	delete(e.output, id)
	if id.test != "" {
		e.outcomes[id] = last.Action
		return
	}
	e.packageFailed = e.packageFailed || last.Action == "fail"
	fmt.Fprintf(out, "%-4s  %s  %.1fs\n", last.Action, id.pkg, last.Elapsed)
}

// leaves counts the tests that have no subtests.
func (e *events) leaves() counts {
	parents := map[testID]bool{}
	for id := range e.outcomes {
		for test := id.test; ; {
			cut := strings.LastIndexByte(test, '/')
			if cut < 0 {
				break
			}
			test = test[:cut]
			parents[testID{id.pkg, test}] = true
		}
	}
	var c counts
	for id, outcome := range e.outcomes {
		// A parent may fail on its own account, with all its subtests passing.
		failedItself := outcome == "fail" && !e.childFailed(id)
		if parents[id] && !failedItself {
			continue
		}
		switch outcome {
		case "pass":
			c.Passed++
		case "fail":
			c.Failed++
		case "skip":
			c.Skipped++
		}
	}
	return c
}

func (e *events) childFailed(parent testID) bool {
	for id, outcome := range e.outcomes {
		if id.pkg == parent.pkg && outcome == "fail" && strings.HasPrefix(id.test, parent.test+"/") {
			return true
		}
	}
	return false
}
