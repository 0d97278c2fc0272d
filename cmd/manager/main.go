// Command manager is the operator: it runs the controllers and serves the admission webhooks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	settings, err := parse(args, os.Getenv, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, err)
		return exitUsage
	case settings.version:
		fmt.Fprintln(stdout, version())
		return exitOK
	}

	logger := zap.New(zap.UseFlagOptions(&settings.log))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := serve(ctx, settings); err != nil {
		logger.Error(err, "The operator ended")
		return exitFailed
	}
	return exitOK
}

func serve(ctx context.Context, settings *settings) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	mgr, err := newManager(config, settings)
	if err != nil {
		return err
	}
	ctrl.Log.Info("Starting", "version", version(), "namespaces", settings.namespaces.String())
	return mgr.Start(ctx)
}
