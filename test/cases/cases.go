// Package cases is a table of multipool ConfigMaps and of what must come of each. The parser, the webhook, the bridge
// and poolctl are all held against it, so that they cannot come to different verdicts.
package cases

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

const manifests = "manifests"

//go:embed cases.yaml manifests
var files embed.FS

// Case is one manifest of the ConfigMap designate-multipool-config.
type Case struct {
	// File is the manifest's name within the table.
	File string
	// Valid says whether the manifest is to be accepted.
	Valid bool
	// Mentions are words that the message about an invalid manifest contains, letter case aside.
	Mentions []string
	// Manifest is the file's content.
	Manifest []byte
}

// Load reads the table in the order of the file names. A manifest without an outcome, and an outcome without a manifest,
// is an error: neither would be tested.
func Load() ([]Case, error) {
	table, err := files.ReadFile("cases.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the table of cases: %w", err)
	}
	var outcomes map[string]struct {
		Valid    bool     `yaml:"valid"`
		Mentions []string `yaml:"mentions"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	if err := decoder.Decode(&outcomes); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the table of cases: %w", err)
	}
	entries, err := files.ReadDir(manifests)
	if err != nil {
		return nil, fmt.Errorf("listing the manifests: %w", err)
	}
	for _, entry := range entries {
		if _, there := outcomes[entry.Name()]; !there {
			return nil, fmt.Errorf("manifest %s has no outcome in cases.yaml", entry.Name())
		}
	}
	loaded := make([]Case, 0, len(outcomes))
	for _, file := range slices.Sorted(maps.Keys(outcomes)) {
		manifest, err := files.ReadFile(path.Join(manifests, file))
		if err != nil {
			return nil, fmt.Errorf("reading a manifest that cases.yaml names: %w", err)
		}
		outcome := outcomes[file]
		if outcome.Valid == (len(outcome.Mentions) > 0) {
			return nil, fmt.Errorf("case %s: mentions belong to invalid manifests, and each of those has some", file)
		}
		loaded = append(loaded, Case{File: file, Valid: outcome.Valid, Mentions: outcome.Mentions, Manifest: manifest})
	}
	return loaded, nil
}
