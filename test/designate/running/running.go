// Package running gives tests hold of the Designate that test/designate/stack has brought up around them.
package running

import (
	"encoding/json"
	"fmt"
	"os"
)

// Environment is the variable that holds the path of the description of the running stack.
const Environment = "DESIGNATE_STACK"

// Names of services, for Stop, Start, Freeze and the like. BIND's servers are services too: see Server.
const (
	MariaDB   = "mariadb"
	RabbitMQ  = "rabbitmq"
	Keystone  = "keystone"
	Central   = "designate-central"
	API       = "designate-api"
	NoAuthAPI = "designate-api-noauth"
	Worker    = "designate-worker"
	Producer  = "designate-producer"
	MDNS      = "designate-mdns"
)

// DefaultPoolID is the id of the pool `default`, as central is configured.
const DefaultPoolID = "794ccc2c-d751-44fe-b57f-8894c9f5c842"

// Regions of Keystone's catalogue. Both lead to the same Designate.
const (
	// Region leads to the API itself.
	Region = "RegionOne"
	// ProxyRegion leads to ProxyAddress, where a test can put a proxy in between.
	ProxyRegion  = "BehindProxy"
	ProxyAddress = "127.0.0.1:9101"
)

// Stack is a running Designate.
type Stack struct {
	// URL is of the API that asks Keystone, NoAuthURL of the one that believes its headers. Both end without a slash and
	// without a version.
	URL, NoAuthURL string
	// KeystoneURL ends in /v3.
	KeystoneURL string
	// ControlURL is where services are stopped and started.
	ControlURL string
	// Admin has the role admin in its project, and in the system. Member has the role member in a project of its own.
	Admin, Member Credentials
	// Application is an application credential of Admin.
	Application ApplicationCredential
	// Servers are the BIND servers, in the order of their names. The first two do not sign transfers, and serve the default
	// pool; each of the others signs with its TSIG key, and can serve one more pool.
	Servers []Server
	// Root is the root file system that the services run in, and Logs the folder of their logs.
	Root, Logs string
	// Versions are those of the software under test, by the names of Debian's packages.
	Versions map[string]string
}

// Credentials are a user's in Keystone. User and project are in the domain Default.
type Credentials struct {
	User, Password, Project string
	ProjectID, UserID       string
}

// ApplicationCredential is a user's for one project, without their password.
type ApplicationCredential struct {
	ID, Secret string
}

// Server is a BIND server.
type Server struct {
	// Name is its name as a service.
	Name string
	// Address is where it answers DNS on port 53, rndc on 953 and HTTP about its state on 8053.
	Address string
	// RNDCKeyFile is a path within Root.
	RNDCKeyFile string
	// TSIG is the key that the server knows.
	TSIG TSIG
	// Signs says whether the server signs its requests for transfers.
	Signs bool
}

// TSIG is a key (RFC 8945).
type TSIG struct {
	Name, Algorithm, Secret string
}

// FromEnvironment is the stack that this process runs in.
func FromEnvironment() (*Stack, error) {
	path := os.Getenv(Environment)
	if path == "" {
		return nil, fmt.Errorf("%s is not set: run this within the stack, go run ./test/designate/stack -- COMMAND", Environment)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	stack := &Stack{}
	if err := json.Unmarshal(text, stack); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return stack, nil
}
