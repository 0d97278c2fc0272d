// Command demo shows the operator's main job on a control plane of its own: the real API server, controller manager and
// scheduler, with kwok making pods ready without containers, and the real operator with its webhooks. It types what a
// person would type, shows what a person would see, and fails when that is not what was to be expected.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/designate-pools/designate-pool-operator/test/controlplane"
)

func main() {
	once := flag.Bool("once", false, "end after the last step instead of leaving everything up")
	manager := flag.String("manager", "", "the operator's binary")
	flag.Parse()

	dieWithParent()
	// The programs have logs of their own, and this one speaks in another way.
	log.SetLogger(logr.Discard())
	if err := run(*manager, *once); err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		os.Exit(1)
	}
}

func run(manager string, once bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return demonstrate(ctx, os.Stdout, manager, once)
}

// demonstrate starts everything, goes through the steps and stops everything.
func demonstrate(ctx context.Context, out io.Writer, manager string, once bool) (err error) {
	fmt.Fprintln(out, "Starting etcd, API server, controller manager, scheduler and kwok.")
	plane, err := controlplane.Start(ctx, controlplane.Options{Name: "demo"})
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(out, "\nStopping everything.")
		if stopErr := plane.Stop(); err == nil {
			err = stopErr
		}
	}()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nThe logs of all programs are in %s", err, plane.LogDir)
		}
	}()

	fmt.Fprintln(out, "Starting the operator, as config/default would, but outside of the cluster.")
	if err := startOperator(ctx, plane, manager); err != nil {
		return fmt.Errorf("starting the operator: %w", err)
	}
	tour, err := newTour(plane, out)
	if err != nil {
		return err
	}
	if err := tour.walk(ctx); err != nil {
		return err
	}
	if once {
		return nil
	}
	fmt.Fprintf(out, "\nEverything is up until you press Ctrl-C. To look around, in another terminal:\n\n"+
		"  export KUBECONFIG=%s\n  export PATH=%s:$PATH\n  kubectl get designate\n", plane.KubeconfigPath, filepath.Dir(plane.Kubectl))
	return tour.waitForInterrupt(ctx)
}
