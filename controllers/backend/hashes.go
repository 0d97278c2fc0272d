package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/designate-pools/designate-pool-operator/conversion"
)

// hashBytes is how much of a SHA-256 is kept: enough that no two of a namespace's entries are ever taken for one.
const hashBytes = 12

// entryHash changes with anything that a pool update tells Designate of a pool.
func entryHash(entry *conversion.PoolEntry) (string, error) {
	text, err := conversion.RenderPoolsYAML([]conversion.PoolEntry{*entry})
	if err != nil {
		return "", err
	}
	return hash(text), nil
}

// targetsHash changes with what Designate's workers read of a pool when they start. It is recorded: another name for a field of
// these types would have every worker restarted.
func targetsHash(entry *conversion.PoolEntry) (string, error) {
	text, err := json.Marshal([]any{entry.Nameservers, entry.Targets})
	if err != nil {
		return "", fmt.Errorf("servers of pool %q: %w", entry.Name, err)
	}
	return hash(text), nil
}

// fillToken tells one empty server from another: a claim that is new has no zone, and zones that are there keep the
// configuration that they were made with.
func fillToken(claim types.UID, target *conversion.Target) (string, error) {
	text, err := json.Marshal([]any{claim, target})
	if err != nil {
		return "", fmt.Errorf("server %s: %w", target.DNS.Host, err)
	}
	return hash(text), nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:hashBytes])
}
