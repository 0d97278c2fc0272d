//go:build linux

package services

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// servers is the number of BIND servers; the first unsigned of them serve the default pool and do not sign.
const (
	servers  = 6
	unsigned = 2
)

// secretSize is in bytes, for HMAC-SHA256.
const secretSize = 32

// object is an object in JSON.
type object = map[string]any

// Seed is what a new stack is made with, and every later one has.
type Seed struct {
	Servers       []running.Server
	RNDCSecret    string
	Admin, Member running.Credentials
	Application   running.ApplicationCredential
}

func newSeed() Seed {
	seed := Seed{
		RNDCSecret: newSecret(),
		Admin:      running.Credentials{User: "admin", Password: "admin", Project: "admin"},
		Member:     running.Credentials{User: "member", Password: "member", Project: "demo"},
	}
	for i := range servers {
		name := fmt.Sprintf("ns%d", i+1)
		seed.Servers = append(seed.Servers, running.Server{
			Name: name, Address: fmt.Sprintf("127.0.0.%d", 11+i), RNDCKeyFile: configDir + "/" + keyTemplate,
			TSIG:  running.TSIG{Name: name + "-key", Algorithm: "hmac-sha256", Secret: newSecret()},
			Signs: i >= unsigned,
		})
	}
	return seed
}

func newSecret() string {
	secret := make([]byte, secretSize)
	// It never fails: https://pkg.go.dev/crypto/rand#Read.
	_, _ = rand.Read(secret)
	return base64.StdEncoding.EncodeToString(secret)
}

// fillKeystone makes what Keystone needs to know beyond its own administrator.
func fillKeystone(ctx context.Context, stack *running.Stack, seed *Seed) error {
	token, err := stack.Token(ctx, seed.Admin)
	if err != nil {
		return err
	}
	k := &keystoneFiller{ctx: ctx, identity: stack.Identity(token)}
	k.put("/regions/"+running.ProxyRegion, object{"region": object{}})
	service := k.create("service", object{"type": "dns", "name": "designate"})
	for region, url := range map[string]string{running.Region: apiURL, running.ProxyRegion: "http://" + running.ProxyAddress} {
		for _, kind := range []string{"public", "internal", "admin"} {
			k.create("endpoint", object{"service_id": service, "interface": kind, "region": region, "url": url})
		}
	}
	k.addUser("designate", "designate", "service", "admin")
	seed.Member.UserID, seed.Member.ProjectID = k.addUser(seed.Member.User, seed.Member.Password, seed.Member.Project, "member")
	seed.Admin.UserID, seed.Admin.ProjectID = k.find("user", seed.Admin.User), k.find("project", seed.Admin.Project)
	var created struct {
		Credential running.ApplicationCredential `json:"application_credential"`
	}
	body := object{"application_credential": object{"name": "test"}}
	k.call(http.MethodPost, "/users/"+seed.Admin.UserID+"/application_credentials", body, &created)
	seed.Application = created.Credential
	return k.err
}

// keystoneFiller keeps the first error, and does nothing after it.
type keystoneFiller struct {
	ctx      context.Context
	identity *running.Client
	err      error
}

func (k *keystoneFiller) call(method, path string, body, into any) {
	if k.err == nil {
		k.err = k.identity.Call(k.ctx, method, path, body, into)
	}
}

func (k *keystoneFiller) put(path string, body any) { k.call(http.MethodPut, path, body, nil) }

// create creates an object of a kind and returns its id.
func (k *keystoneFiller) create(kind string, fields object) string {
	created := map[string]struct {
		ID string `json:"id"`
	}{}
	k.call(http.MethodPost, "/"+kind+"s", object{kind: fields}, &created)
	return created[kind].ID
}

// find returns the id of the object of that name.
func (k *keystoneFiller) find(kind, name string) string {
	found := map[string]any{}
	k.call(http.MethodGet, "/"+kind+"s?name="+name, nil, &found)
	list, _ := found[kind+"s"].([]any)
	if len(list) != 1 {
		if k.err == nil {
			k.err = fmt.Errorf("there are in Keystone %d of %s %q", len(list), kind, name)
		}
		return ""
	}
	entry, _ := list[0].(object)
	id, _ := entry["id"].(string)
	return id
}

// addUser makes a user with one role in a project of its own.
func (k *keystoneFiller) addUser(name, password, project, role string) (userID, projectID string) {
	projectID = k.create("project", object{"name": project, "domain_id": "default"})
	userID = k.create("user", object{"name": name, "domain_id": "default", "password": password})
	k.put("/projects/"+projectID+"/users/"+userID+"/roles/"+k.find("role", role), nil)
	return userID, projectID
}
