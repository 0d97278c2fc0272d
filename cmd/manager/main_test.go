package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	tests := map[string]struct {
		args           []string
		exit           int
		stdout, stderr string
	}{
		"the version is told whatever else is missing": {
			args: []string{"--version"}, exit: exitOK, stdout: "go1.",
		},
		"help that was asked for is output": {
			args: []string{"--help"}, exit: exitOK, stdout: "-retry-max-delay",
		},
		"a flag that does not exist is refused": {
			args: []string{"--retry-delay=1s"}, exit: exitUsage, stderr: "-retry-delay; see --help\n",
		},
		"an argument that is no flag is refused": {
			args: []string{"start"}, exit: exitUsage, stderr: `unknown argument "start"`,
		},
		"a value that cannot be read is refused": {
			args: []string{"--pool-concurrency=many"}, exit: exitUsage, stderr: "-pool-concurrency",
		},
		"a value that makes no sense is refused by its name": {
			args: []string{"--pool-concurrency=0"}, exit: exitUsage, stderr: "--pool-concurrency must be 1 or more",
		},
		"a kubeconfig that is not there ends the operator": {
			args: []string{"--enable-webhooks=false", "--kubeconfig=/nonexistent/kubeconfig"}, exit: exitFailed,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(context.Background(), test.args, &stdout, &stderr); got != test.exit {
				t.Errorf("exit code %d, want %d; standard error: %s", got, test.exit, stderr.String())
			}
			if !strings.Contains(stdout.String(), test.stdout) {
				t.Errorf("standard output %q does not hold %q", stdout.String(), test.stdout)
			}
			if !strings.Contains(stderr.String(), test.stderr) || test.stderr == "" && stderr.Len() > 0 {
				t.Errorf("standard error %q, want %q in it", stderr.String(), test.stderr)
			}
		})
	}
}
