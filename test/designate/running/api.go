package running

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client asks an API with the same headers each time. It understands nothing, so that tests see what the server said.
type Client struct {
	// URL is put before every path.
	URL string
	// Headers go with every request.
	Headers map[string]string
}

// Answer is what a server answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON decodes the body.
func (a *Answer) JSON(into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("an answer of status %d, %d bytes: %w", a.Status, len(a.Body), err)
	}
	return nil
}

// Do sends a request, with a body in JSON unless that is nil. The error says that no answer came; a status that tells of
// failure is an answer.
func (c *Client) Do(ctx context.Context, method, path string, body any) (*Answer, error) {
	var reader io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, reader)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer := &Answer{Status: response.StatusCode, Header: response.Header}
	answer.Body, err = io.ReadAll(response.Body)
	return answer, err
}

// Call sends a request that must be answered with a status below 300, and decodes the answer unless into is nil.
func (c *Client) Call(ctx context.Context, method, path string, body, into any) error {
	answer, err := c.Do(ctx, method, path, body)
	switch {
	case err != nil:
		return err
	case answer.Status >= http.StatusMultipleChoices:
		return fmt.Errorf("%s %s: HTTP %d: %s", method, path, answer.Status, answer.Body)
	case into == nil:
		return nil
	default:
		return answer.JSON(into)
	}
}

// With is the same client with one header more.
func (c *Client) With(name, value string) *Client {
	headers := map[string]string{name: value}
	for name, value := range c.Headers {
		if _, set := headers[name]; !set {
			headers[name] = value
		}
	}
	return &Client{URL: c.URL, Headers: headers}
}

// AllProjects is the same client, looking into all projects.
func (c *Client) AllProjects() *Client { return c.With("X-Auth-All-Projects", "true") }

// NoAuth is an administrator in a project, any project, of the API that believes its headers.
func (s *Stack) NoAuth(project string) *Client {
	return &Client{URL: s.NoAuthURL, Headers: map[string]string{
		"X-Auth-Project-ID": project, "X-Auth-User-ID": "test", "X-Roles": "admin",
	}}
}

// WithToken is whoever the token belongs to, at the API that asks Keystone.
func (s *Stack) WithToken(token string) *Client {
	return &Client{URL: s.URL, Headers: map[string]string{"X-Auth-Token": token}}
}

// Zone is a zone in Designate's words.
type Zone struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	PoolID     string            `json:"pool_id"`
	ProjectID  string            `json:"project_id"`
	Type       string            `json:"type"`
	Status     string            `json:"status"`
	Action     string            `json:"action"`
	Serial     int64             `json:"serial"`
	Version    int64             `json:"version"`
	Attributes map[string]string `json:"attributes"`
	CreatedAt  string            `json:"created_at"`
}

// State is status and action.
func (z Zone) State() string { return z.Status + "/" + z.Action }

// CreateZone creates a zone, whose name ends in a dot, in any project. Attributes choose its pool; nil leaves it to the
// default pool.
func (s *Stack) CreateZone(ctx context.Context, project, name string, attributes map[string]string) (Zone, error) {
	body := map[string]any{"name": name, "email": "hostmaster@example.org"}
	if attributes != nil {
		body["attributes"] = attributes
	}
	var zone Zone
	err := s.NoAuth(project).Call(ctx, http.MethodPost, "/v2/zones", body, &zone)
	return zone, err
}

// DeleteZone asks for the deletion of a zone of any project, which goes on afterwards.
func (s *Stack) DeleteZone(ctx context.Context, id string) error {
	return s.NoAuth("any").AllProjects().Call(ctx, http.MethodDelete, "/v2/zones/"+id, nil, nil)
}

// RemoveZone deletes a zone of any project, if it is there, and waits until it is gone.
func (s *Stack) RemoveZone(ctx context.Context, id string) error {
	answer, err := s.NoAuth("any").AllProjects().Do(ctx, http.MethodDelete, "/v2/zones/"+id, nil)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusAccepted && answer.Status != http.StatusNotFound {
		return fmt.Errorf("delete zone %s: HTTP %d", id, answer.Status)
	}
	return s.AwaitNoZone(ctx, id)
}

// RemovePool deletes a pool without zones, and the TSIG keys for it, as far as they are there.
func (s *Stack) RemovePool(ctx context.Context, id string) error {
	admin := s.NoAuth("any")
	var keys struct {
		Keys []struct {
			ID       string `json:"id"`
			Resource string `json:"resource_id"`
		} `json:"tsigkeys"`
	}
	if err := admin.Call(ctx, http.MethodGet, "/v2/tsigkeys?limit=1000", nil, &keys); err != nil {
		return err
	}
	paths := []string{"/v2/pools/" + id}
	for _, key := range keys.Keys {
		if key.Resource == id {
			paths = append(paths, "/v2/tsigkeys/"+key.ID)
		}
	}
	for _, path := range paths {
		answer, err := admin.Do(ctx, http.MethodDelete, path, nil)
		if err != nil {
			return err
		}
		if answer.Status != http.StatusNoContent && answer.Status != http.StatusNotFound {
			return fmt.Errorf("delete %s: HTTP %d", path, answer.Status)
		}
	}
	return nil
}

// ErrNoZone says that Designate knows no such zone.
var ErrNoZone = errors.New("no such zone")

// Zone is a zone of any project, now.
func (s *Stack) Zone(ctx context.Context, id string) (Zone, error) {
	answer, err := s.NoAuth("any").AllProjects().Do(ctx, http.MethodGet, "/v2/zones/"+id, nil)
	if err != nil {
		return Zone{}, err
	}
	var zone Zone
	switch answer.Status {
	case http.StatusOK:
		err := answer.JSON(&zone)
		return zone, err
	case http.StatusNotFound:
		return zone, ErrNoZone
	default:
		return zone, fmt.Errorf("zone %s: HTTP %d", id, answer.Status)
	}
}

const (
	// waitInterval is the time between two looks.
	waitInterval = 200 * time.Millisecond
	// zoneTimeout is what a busy machine takes at most. A cleanup has no end of its own.
	zoneTimeout = 3 * time.Minute
)

// AwaitZone waits until a zone is in a state, such as ACTIVE/NONE, for zoneTimeout at most.
func (s *Stack) AwaitZone(ctx context.Context, id, state string) (Zone, error) {
	ctx, cancel := context.WithTimeout(ctx, zoneTimeout)
	defer cancel()
	var zone Zone
	err := Await(ctx, func() (err error) {
		if zone, err = s.Zone(ctx, id); err == nil && zone.State() != state {
			err = fmt.Errorf("zone %s is %s, not %s", zone.Name, zone.State(), state)
		}
		return err
	})
	return zone, err
}

// AwaitNoZone waits until a zone is gone, for zoneTimeout at most.
func (s *Stack) AwaitNoZone(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, zoneTimeout)
	defer cancel()
	return Await(ctx, func() error {
		zone, err := s.Zone(ctx, id)
		switch {
		case errors.Is(err, ErrNoZone):
			return nil
		case err == nil:
			return fmt.Errorf("zone %s is still there, %s", zone.Name, zone.State())
		default:
			return err
		}
	})
}

// Await tries until there is no error or ctx ends.
func Await(ctx context.Context, try func() error) error {
	ticker := time.NewTicker(waitInterval)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the last try: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}
