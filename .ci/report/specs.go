package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/onsi/ginkgo/v2/types"
)

// readSpecs counts the specs in a ginkgo report. A suite node that failed, such as BeforeSuite, counts as a failed
// test; one that passed is no test.
func readSpecs(file string) (counts, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return counts{}, fmt.Errorf("the suite wrote no report: %w", err)
	}
	var reports []types.Report
	if err := json.Unmarshal(content, &reports); err != nil {
		return counts{}, fmt.Errorf("%s: %w", file, err)
	}
	var c counts
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			switch {
			case spec.Failed():
				c.Failed++
			case spec.LeafNodeType != types.NodeTypeIt:
			case spec.State == types.SpecStatePassed:
				c.Passed++
			default:
				c.Skipped++
			}
		}
		if !report.SuiteSucceeded && c.Failed == 0 {
			c.Failed++
		}
	}
	return c, nil
}
