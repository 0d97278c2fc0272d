// Command report turns the output of `go test -json` into something to read, counts tests and keeps the count.
//
//	go test -json ... | report --lane NAME [--specs GINKGO-REPORT]
//	report --lane NAME --chainsaw CHAINSAW-REPORT --ended EXIT-CODE --top FOLDER PATH...
//	report --sum
//
// A test is a leaf: a test function or a subtest without subtests of its own, a ginkgo spec, or a test of chainsaw. For a
// package that wrote a ginkgo report, the specs are counted instead of the one function that runs them all. A lane in
// which nothing passed has failed, whatever its packages say: a suite that was skipped must not look like one that
// passed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

const countsDir = ".artifacts/counts"

func main() {
	lane := flag.String("lane", "", "name of the tests on standard input")
	specs := flag.String("specs", "", "the ginkgo report that these tests write")
	chainsaw := flag.String("chainsaw", "", "the report that chainsaw wrote, instead of tests on standard input")
	ended := flag.Int("ended", 0, "the exit code of what ran chainsaw")
	top := flag.String("top", ".", "the folder where chainsaw was started, with the paths that are arguments")
	sum := flag.Bool("sum", false, "print the sum of all lanes and nothing else")
	flag.Parse()

	var err error
	switch {
	case *sum:
		err = printSum(os.Stdout, countsDir)
	case *chainsaw != "":
		err = runChainsaw(os.Stdout, countsDir, *lane, chainsawRun{report: *chainsaw, ended: *ended, top: *top, paths: flag.Args()})
	case *lane != "":
		err = runLane(os.Stdin, os.Stdout, countsDir, *lane, *specs)
	default:
		err = errors.New("--lane or --sum is needed")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// runLane reads a lane's events to their end, then keeps and judges its counts.
func runLane(in io.Reader, out io.Writer, dir, lane, specsFile string) error {
	start := time.Now()
	events, err := readEvents(in, out)
	if err != nil {
		return err
	}
	total := events.leaves()
	if specsFile != "" {
		specs, err := readSpecs(specsFile)
		if err != nil {
			// Such a suite did not get as far as its report.
			return errors.Join(fmt.Errorf("lane %s: %w", lane, err), writeCounts(dir, lane, counts{Failed: 1}))
		}
		total = specs
	}
	if events.packageFailed && total.Failed == 0 {
		total.Failed = 1
	}
	fmt.Fprintf(out, "%s: %s in %s\n", lane, total, time.Since(start).Round(time.Second))
	return keep(dir, lane, total)
}

// keep keeps the counts of a lane and judges them.
func keep(dir, lane string, total counts) error {
	if err := writeCounts(dir, lane, total); err != nil {
		return err
	}
	switch {
	case total.Failed > 0:
		return fmt.Errorf("lane %s failed", lane)
	case total.Passed == 0:
		return fmt.Errorf("lane %s ran no tests", lane)
	}
	return nil
}

func printSum(out io.Writer, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	var sum counts
	for _, file := range files {
		lane, err := readCounts(file)
		if err != nil {
			return err
		}
		sum = sum.plus(lane)
	}
	_, err = fmt.Fprintln(out, sum)
	return err
}
