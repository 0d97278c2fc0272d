// Command install builds the programs of the test control plane, unless they are there.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/designate-pools/designate-pool-operator/test/controlplane/assets"
)

func main() {
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "control plane:", err)
		os.Exit(1)
	}
}

func install() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := assets.Root()
	if err != nil {
		return err
	}
	return assets.Build(ctx, root, os.Stderr)
}
