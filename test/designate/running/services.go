package running

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Actions on services, as the stack's control knows them.
const (
	ActionStop   = "stop"
	ActionStart  = "start"
	ActionFreeze = "freeze"
	ActionThaw   = "thaw"
)

// Stop ends a service: politely at first, as an administrator would.
func (s *Stack) Stop(ctx context.Context, service string) error {
	return s.control(ctx, ActionStop, service)
}

// Start starts a service that was stopped, and waits until it does its work.
func (s *Stack) Start(ctx context.Context, service string) error {
	return s.control(ctx, ActionStart, service)
}

// Restart stops and starts a service.
func (s *Stack) Restart(ctx context.Context, service string) error {
	if err := s.Stop(ctx, service); err != nil {
		return err
	}
	return s.Start(ctx, service)
}

// Freeze halts all processes of a service (SIGSTOP): its ports accept connections, and nothing answers.
func (s *Stack) Freeze(ctx context.Context, service string) error {
	return s.control(ctx, ActionFreeze, service)
}

// Thaw lets a frozen service go on (SIGCONT).
func (s *Stack) Thaw(ctx context.Context, service string) error {
	return s.control(ctx, ActionThaw, service)
}

func (s *Stack) control(ctx context.Context, action, service string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.ControlURL+"/"+action+"/"+service, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", action, service, strings.TrimSpace(string(text)))
	}
	return nil
}
