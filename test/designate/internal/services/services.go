//go:build linux

// Package services brings up MariaDB, RabbitMQ, Keystone, Designate and BIND as processes of the namespaces that it is
// called in, all of them from one root file system of Debian's packages.
package services

import (
	"context"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// Packages are what the root file system is made of, with all that they depend on.
var Packages = []string{
	"designate-api", "designate-central", "designate-worker", "designate-producer", "designate-mdns",
	"keystone", "uwsgi-plugin-python3",
	"mariadb-server-core", "mariadb-client-core", "rabbitmq-server", "bind9", "iproute2",
	// What their scripts expect of any Debian.
	"base-files", "base-passwd", "bash", "coreutils", "dash", "findutils", "gawk", "grep", "hostname", "libc-bin", "netbase", "procps", "sed",
}

// reported are the packages whose versions are told to whoever runs tests.
var reported = []string{"python3-designate", "python3-keystone", "bind9", "mariadb-server-core", "rabbitmq-server"}

// Where things are in the root. /run is in memory, and ends with these namespaces.
const (
	configDir   = "/run/etc"
	dataDir     = "/run/mariadb/data"
	keystoneDir = "/run/keystone"
	amqpAddress = "127.0.0.1:5672"
	apiURL      = "http://127.0.0.1:9001"
	noAuthURL   = "http://127.0.0.1:9002"
	keystoneURL = "http://127.0.0.1:5000/v3"
	controlURL  = "http://" + controlAddress
)

func mariaDB(query func(ctx context.Context) error) service {
	return service{
		name: running.MariaDB, args: []string{"/usr/sbin/mariadbd", "--defaults-file=" + running.MariaDBConfig},
		ready: func(ctx context.Context, _ logFile) error { return query(ctx) },
	}
}

var rabbitMQ = service{
	name: running.RabbitMQ, args: []string{"/usr/lib/rabbitmq/bin/rabbitmq-server"},
	env: []string{
		"HOME=/run/rabbitmq",
		"RABBITMQ_NODENAME=designate@localhost",
		"RABBITMQ_CONFIG_FILE=" + configDir + "/rabbitmq.conf",
		"RABBITMQ_CONF_ENV_FILE=/dev/null",
		"RABBITMQ_ENABLED_PLUGINS_FILE=/run/rabbitmq/enabled_plugins",
		"RABBITMQ_MNESIA_BASE=/run/rabbitmq/mnesia",
		"RABBITMQ_LOG_BASE=/run/rabbitmq",
		// One thread that does not spin: on two processors it starts faster, and leaves them to others.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}",
		"ERL_EPMD_ADDRESS=127.0.0.1",
	},
	ready: greetsAMQP(amqpAddress),
}

var keystone = service{
	name: running.Keystone,
	args: []string{
		"/usr/bin/uwsgi_python311", "--master", "--die-on-term", "--need-app", "--lazy-apps",
		"--processes", "1", "--threads", "4", "--buffer-size", "65535",
		// It closes connections after each answer, and would not say so.
		"--add-header", "Connection: close", "--http-socket", "127.0.0.1:5000",
		"--wsgi-file", "/usr/bin/keystone-wsgi-public",
	},
	env:   []string{"OS_KEYSTONE_CONFIG_FILES=" + configDir + "/keystone.conf"},
	ready: answersHTTP(keystoneURL, nil, 200),
}

// designate is one of Designate's services, configured by designate.conf and further files.
func designate(name, program string, ready func(context.Context, logFile) error, files ...string) service {
	args := []string{"/usr/bin/" + program, "--config-file", running.DesignateConfig}
	for _, file := range files {
		args = append(args, "--config-file", configDir+"/"+file)
	}
	return service{name: name, args: args, ready: ready}
}

// noAuthHeaders are an administrator's.
var noAuthHeaders = map[string]string{"X-Auth-Project-ID": "readiness", "X-Roles": "admin"}

var (
	central  = designate(running.Central, running.Central, says("Starting central service"))
	worker   = designate(running.Worker, running.Worker, says("Started worker"))
	producer = designate(running.Producer, running.Producer, says("Received rebalance event"))
	mdns     = designate(running.MDNS, running.MDNS, accepts("127.0.0.1:5354"))
	// An API that waits for credentials is up, with or without Keystone and central.
	api       = designate(running.API, running.API, answersHTTP(apiURL+"/v2/pools", nil, 401))
	noAuthAPI = designate(running.NoAuthAPI, running.API, answersHTTP(noAuthURL+"/", nil, 200), "designate-noauth.conf")
)

// named is a BIND server.
func named(server running.Server) service {
	return service{
		name:  server.Name,
		args:  []string{"/usr/sbin/named", "-f", "-g", "-n", "1", "-c", configDir + "/" + server.Name + ".conf"},
		ready: accepts(server.Address+":53", server.Address+":953", server.Address+":8053"),
	}
}
