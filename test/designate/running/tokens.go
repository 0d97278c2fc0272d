package running

import (
	"context"
	"fmt"
	"net/http"
)

// object is an object in JSON.
type object = map[string]any

// defaultDomain is the domain of all users and projects.
var defaultDomain = object{"id": "default"}

// Token asks Keystone for a token of a user in their project.
func (s *Stack) Token(ctx context.Context, c Credentials) (string, error) {
	return s.token(ctx, withPassword(c), object{"project": object{"name": c.Project, "domain": defaultDomain}})
}

// SystemToken asks Keystone for a token of a user in the whole system.
func (s *Stack) SystemToken(ctx context.Context, c Credentials) (string, error) {
	return s.token(ctx, withPassword(c), object{"system": object{"all": true}})
}

// ApplicationToken asks Keystone for a token of an application credential.
func (s *Stack) ApplicationToken(ctx context.Context, c ApplicationCredential) (string, error) {
	return s.token(ctx, object{
		"methods":                []string{"application_credential"},
		"application_credential": object{"id": c.ID, "secret": c.Secret},
	}, nil)
}

// Revoke makes a token invalid.
func (s *Stack) Revoke(ctx context.Context, token string) error {
	return s.Identity(token).With("X-Subject-Token", token).Call(ctx, http.MethodDelete, "/auth/tokens", nil, nil)
}

// SetPassword gives a user another password, as Admin.
func (s *Stack) SetPassword(ctx context.Context, userID, password string) error {
	token, err := s.Token(ctx, s.Admin)
	if err != nil {
		return err
	}
	body := object{"user": object{"password": password}}
	return s.Identity(token).Call(ctx, http.MethodPatch, "/users/"+userID, body, nil)
}

// Identity is Keystone's API.
func (s *Stack) Identity(token string) *Client {
	client := &Client{URL: s.KeystoneURL}
	if token == "" {
		return client
	}
	return client.With("X-Auth-Token", token)
}

func withPassword(c Credentials) object {
	user := object{"name": c.User, "domain": defaultDomain, "password": c.Password}
	return object{"methods": []string{"password"}, "password": object{"user": user}}
}

func (s *Stack) token(ctx context.Context, identity, scope object) (string, error) {
	auth := object{"identity": identity}
	if scope != nil {
		auth["scope"] = scope
	}
	answer, err := s.Identity("").Do(ctx, http.MethodPost, "/auth/tokens", object{"auth": auth})
	if err != nil {
		return "", err
	}
	if answer.Status != http.StatusCreated {
		return "", fmt.Errorf("asking Keystone for a token: HTTP %d", answer.Status)
	}
	return answer.Header.Get("X-Subject-Token"), nil
}
