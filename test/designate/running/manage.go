package running

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"sigs.k8s.io/yaml"
)

// DesignateConfig is the path of designate.conf within Root.
const DesignateConfig = "/run/etc/designate.conf"

// MariaDBConfig is the path of my.cnf within Root.
const MariaDBConfig = "/run/etc/my.cnf"

// exitUnknown is the exit code of what has not ended by itself.
const exitUnknown = -1

// Pool is a pool in pools.yaml. What is nil is left out, which Designate takes for "as it was".
type Pool struct {
	Name        string            `json:"name"`
	ID          string            `json:"id,omitempty"`
	Description *string           `json:"description,omitempty"`
	Attributes  map[string]string `json:"attributes,omitzero"`
	NSRecords   []NSRecord        `json:"ns_records,omitzero"`
	Nameservers []HostPort        `json:"nameservers,omitzero"`
	Targets     []Target          `json:"targets,omitzero"`
}

// NSRecord is an NS record of a pool.
type NSRecord struct {
	Hostname string `json:"hostname"`
	Priority int    `json:"priority"`
}

// HostPort is where a server answers.
type HostPort struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// Target is a server that the worker makes zones on.
type Target struct {
	Type    string            `json:"type"`
	Masters []HostPort        `json:"masters"`
	Options map[string]string `json:"options"`
}

// PoolOf is a pool of that name with servers, NS records for them and everything else that makes it work.
func (s *Stack) PoolOf(name, id string, attributes map[string]string, servers ...Server) Pool {
	pool := Pool{Name: name, ID: id, Attributes: attributes}
	for i, server := range servers {
		pool.NSRecords = append(pool.NSRecords, NSRecord{Hostname: server.Name + ".example.org.", Priority: i + 1})
		pool.Nameservers = append(pool.Nameservers, HostPort{Host: server.Address, Port: 53})
		pool.Targets = append(pool.Targets, Target{
			Type: "bind9", Masters: []HostPort{{Host: "127.0.0.1", Port: 5354}},
			Options: map[string]string{
				"host": server.Address, "port": "53", "rndc_host": server.Address, "rndc_port": "953",
				"rndc_key_file": server.RNDCKeyFile, "clean_zonefile": "true",
			},
		})
	}
	return pool
}

// DefaultPool is the default pool on the first two servers. Its attribute keeps it from matching every zone.
func (s *Stack) DefaultPool() Pool {
	return s.PoolOf("default", DefaultPoolID, map[string]string{"pool_level": "default"}, s.Servers[:2]...)
}

// PoolsYAML is the text of pools.yaml.
func PoolsYAML(pools ...Pool) (string, error) {
	text, err := yaml.Marshal(pools)
	return string(text), err
}

// Update is how a run of `designate-manage pool update` ended.
type Update struct {
	ExitCode int
	// Output is everything that it printed.
	Output string
}

// PoolUpdate runs `designate-manage pool update` on a pools.yaml. The error says that it could not be run; what it made of
// the file is in its exit code and output.
func (s *Stack) PoolUpdate(ctx context.Context, poolsYAML string, flags ...string) (Update, error) {
	file, err := os.CreateTemp(filepath.Join(s.Root, "tmp"), "pools-*.yaml")
	if err != nil {
		return Update{}, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(poolsYAML)
	if err := errors.Join(err, file.Close()); err != nil {
		return Update{}, err
	}
	args := []string{"--config-file", DesignateConfig, "pool", "update", "--file", "/tmp/" + filepath.Base(file.Name())}
	command := s.Command(ctx, "/usr/bin/designate-manage", append(args, flags...)...)
	output, err := command.CombinedOutput()
	update := Update{ExitCode: exitUnknown, Output: string(output)}
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.Exited() {
		update.ExitCode = exit.ExitCode()
		return update, nil
	}
	if err == nil {
		update.ExitCode = 0
	}
	return update, err
}

// ApplyPools is PoolUpdate where anything but success is an error.
func (s *Stack) ApplyPools(ctx context.Context, pools ...Pool) error { return s.apply(ctx, pools) }

// ApplyOnly is ApplyPools that deletes every other pool.
func (s *Stack) ApplyOnly(ctx context.Context, pools ...Pool) error {
	return s.apply(ctx, pools, "--delete")
}

func (s *Stack) apply(ctx context.Context, pools []Pool, flags ...string) error {
	text, err := PoolsYAML(pools...)
	if err != nil {
		return err
	}
	update, err := s.PoolUpdate(ctx, text, flags...)
	if err == nil && update.ExitCode != 0 {
		err = fmt.Errorf("designate-manage pool update: exit code %d\n%s", update.ExitCode, update.Output)
	}
	return err
}

// SQL runs a statement in a database, designate or keystone, and returns what it selects: a line a row, tabs between
// columns. It is for states that no request brings about.
func (s *Stack) SQL(ctx context.Context, database, statement string) (string, error) {
	command := s.Command(ctx, "/usr/bin/mariadb", "--defaults-file="+MariaDBConfig, "--socket=/run/mariadb/mysqld.sock",
		"--default-character-set=utf8mb4", "--skip-column-names", "--batch", "--execute", statement, database)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		err = fmt.Errorf("mariadb: %w: %s", err, stderr.String())
	}
	return strings.TrimSuffix(string(output), "\n"), err
}

// Command is a program of the root file system, to be run there.
func (s *Stack) Command(ctx context.Context, path string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, path, args...)
	InRoot(command, s.Root)
	return command
}

// ProgramEnvironment is the environment of every program of the root file system.
func ProgramEnvironment() []string {
	return []string{"PATH=/usr/sbin:/usr/bin", "HOME=/run/home", "LANG=C.UTF-8", "PYTHONWARNINGS=ignore"}
}

// InRoot makes a command run in a root file system.
func InRoot(command *exec.Cmd, root string) {
	command.Dir = "/"
	command.Env = ProgramEnvironment()
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Chroot = root
}
