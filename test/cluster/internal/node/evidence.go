//go:build linux

package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// EvidenceTimeout bounds the collection of evidence: the API server may be what has failed.
const EvidenceTimeout = time.Minute

// secretKinds are never written anywhere.
var secretKinds = map[string]bool{"secrets": true}

// keepEvidence writes events, pods in words, and every object but Secrets to the artifacts folder, as far as the API
// server still tells. The logs of programs and containers are there already.
func (n *Node) keepEvidence(ctx context.Context) {
	if n.client == nil {
		return
	}
	// It may be the end of ctx that is to be understood.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), EvidenceTimeout)
	defer cancel()
	fmt.Fprintf(n.Progress, "Keeping events, objects and logs in %s\n", n.Artifacts)
	kubectl := filepath.Join(binDir, "kubectl")
	keep := func(file string, args ...string) {
		command := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig", Kubeconfig, "--request-timeout=10s"}, args...)...)
		// What kubectl complains about is evidence, too.
		output, _ := command.CombinedOutput()
		if err := os.WriteFile(filepath.Join(n.Artifacts, file), output, 0o644); err != nil {
			fmt.Fprintln(n.Progress, "Evidence is lost:", err)
		}
	}
	keep("events.txt", "get", "events", "--all-namespaces", "--sort-by=.lastTimestamp", "--output=wide")
	keep("pods.txt", "describe", "pods", "--all-namespaces")
	kinds, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", Kubeconfig, "api-resources", "--verbs=list", "--output=name").Output()
	if err != nil {
		fmt.Fprintln(n.Progress, "Evidence is lost:", err)
		return
	}
	var wanted []string
	for kind := range strings.FieldsSeq(string(kinds)) {
		if !secretKinds[kind] && !strings.HasPrefix(kind, "events") {
			wanted = append(wanted, kind)
		}
	}
	keep("objects.yaml", "get", strings.Join(wanted, ","), "--all-namespaces", "--output=yaml")
}
