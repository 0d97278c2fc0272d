//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// controlSocket is where whoever works in the cluster can have its programs stopped and started.
const controlSocket = stateDir + "/control.sock"

// Actions that Control knows.
const (
	Stop  = "stop"
	Start = "start"
)

// serveControl serves until the process ends.
func serveControl(c *components) error {
	listener, err := net.Listen("unix", controlSocket)
	if err != nil {
		return err
	}
	handler := http.NewServeMux()
	handle := func(action string, do func(name string) error) {
		handler.HandleFunc("POST /"+action+"/{name}", func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.PathValue("name")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		})
	}
	handle(Stop, c.stop)
	handle(Start, c.restart)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.Serve(listener); err != nil {
			c.died <- fmt.Errorf("the control socket: %w", err)
		}
	}()
	return nil
}

// Control stops or starts a program of the node, from within the cluster.
func Control(ctx context.Context, action, name string) error {
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", controlSocket)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node/"+action+"/"+name, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%w (this works within a cluster only)", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	text, err := io.ReadAll(response.Body)
	return errors.Join(errors.New(strings.TrimSpace(string(text))), err)
}
