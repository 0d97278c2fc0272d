//go:build linux

package services

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// controlAddress is where tests have services stopped and started.
const controlAddress = "127.0.0.1:9000"

// serveControl serves until the process ends.
func serveControl(s *supervisor) error {
	listener, err := net.Listen("tcp", controlAddress)
	if err != nil {
		return err
	}
	handler := http.NewServeMux()
	handle := func(action string, do func(ctx context.Context, name string) error) {
		handler.HandleFunc("POST /"+action+"/{name}", func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.Context(), r.PathValue("name")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		})
	}
	handle(running.ActionStop, s.stop)
	handle(running.ActionStart, s.restart)
	handle(running.ActionFreeze, s.freeze)
	handle(running.ActionThaw, s.thaw)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.Serve(listener); err != nil {
			s.died <- fmt.Errorf("the control of services: %w", err)
		}
	}()
	return nil
}
