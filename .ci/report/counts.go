package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// counts are the outcomes of tests.
type counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

func (c counts) plus(other counts) counts {
	return counts{Passed: c.Passed + other.Passed, Failed: c.Failed + other.Failed, Skipped: c.Skipped + other.Skipped}
}

func writeCounts(dir, lane string, c counts) error {
	content, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, lane+".json"), content, 0o600)
}

func readCounts(file string) (counts, error) {
	var c counts
	content, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}
