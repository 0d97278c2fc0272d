//go:build linux

package services

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// Prepare brings a stack up from nothing, once, and keeps the databases and keys that every later one begins with. The
// root is writable meanwhile, so that Python keeps what it compiles.
func (s *Stack) Prepare(ctx context.Context) error {
	s.seed = newSeed()
	if err := s.begin(true); err != nil {
		return err
	}
	steps := []func(context.Context) error{
		s.makeDatabases, s.fillDatabases, s.startAll,
		func(ctx context.Context) error { return fillKeystone(ctx, s.stack, &s.seed) },
		func(ctx context.Context) error { return s.stack.ApplyPools(ctx, s.stack.DefaultPool()) },
		s.keep,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stack) makeDatabases(ctx context.Context) error {
	err := s.tool(ctx, "/usr/bin/mariadb-install-db", "--defaults-file="+running.MariaDBConfig,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	if err != nil {
		return err
	}
	if err := s.supervisor.start(ctx, s.mariaDB()); err != nil {
		return err
	}
	text, err := files.ReadFile("files/databases.sql")
	if err != nil {
		return err
	}
	_, err = s.stack.SQL(ctx, "mysql", string(text))
	return err
}

func (s *Stack) fillDatabases(ctx context.Context) error {
	keystoneManage := []string{"/usr/bin/keystone-manage", "--config-file", configDir + "/keystone.conf"}
	for _, args := range [][]string{
		{"/usr/bin/designate-manage", "--config-file", running.DesignateConfig, "database", "sync"},
		append(keystoneManage, "db_sync"),
		append(keystoneManage, "fernet_setup", "--keystone-user", "root", "--keystone-group", "root"),
		append(keystoneManage, "credential_setup", "--keystone-user", "root", "--keystone-group", "root"),
		append(keystoneManage, "bootstrap",
			"--bootstrap-username", s.seed.Admin.User, "--bootstrap-password", s.seed.Admin.Password,
			"--bootstrap-project-name", s.seed.Admin.Project, "--bootstrap-region-id", running.Region,
			"--bootstrap-public-url", keystoneURL, "--bootstrap-internal-url", keystoneURL, "--bootstrap-admin-url", keystoneURL),
	} {
		if err := s.tool(ctx, args[0], args[1:]...); err != nil {
			return err
		}
	}
	// All start it again together with the rest.
	return s.supervisor.stop(ctx, running.MariaDB)
}

// tool runs a program of the root to its end. What it says is among the logs.
func (s *Stack) tool(ctx context.Context, path string, args ...string) error {
	log, err := os.OpenFile(filepath.Join(s.Logs, filepath.Base(path)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := s.stack.Command(ctx, path, args...)
	command.Stdout, command.Stderr = log, log
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w (see %s)", path, err, log.Name())
	}
	return nil
}

// keep stops everything that writes and copies what it wrote.
func (s *Stack) keep(ctx context.Context) error {
	for _, name := range []string{
		running.API, running.NoAuthAPI, running.Producer, running.Worker, running.MDNS, running.Central, running.Keystone, running.MariaDB,
	} {
		if err := s.supervisor.stop(ctx, name); err != nil {
			return err
		}
	}
	if err := os.Mkdir(s.prepared(), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"mariadb", "keystone"} {
		if err := copyTree(ctx, filepath.Join(s.root(), "run", name), s.prepared()); err != nil {
			return err
		}
	}
	return writeJSON(s.seedFile(), s.seed)
}
