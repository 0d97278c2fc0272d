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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := install(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "control plane:", err)
		os.Exit(1)
	}
}

func install(ctx context.Context) error {
	root, err := assets.Root()
	if err != nil {
		return err
	}
	return assets.Build(ctx, root, os.Stderr)
}
