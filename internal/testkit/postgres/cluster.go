package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// ErrNoProgram means that PostgreSQL is not installed.
var ErrNoProgram = errors.New("no program postgres; hint: install it (Debian: postgresql)")

const (
	startTimeout = time.Minute // until a cluster answers, even on a busy machine
	pollInterval = 20 * time.Millisecond
)

// A Cluster is a private PostgreSQL. Its one user is lockbench, its database postgres.
type Cluster struct {
	programs, dir string
	server        *exec.Cmd
}

// Start starts a cluster and returns when it answers, within a minute. It listens on no port, and
// syncs nothing to disk. The error is [ErrNoProgram] if PostgreSQL is not installed.
func Start(ctx context.Context) (c *Cluster, err error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lockbench-pg-") // short enough for the path of a socket
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("private cluster: %w", err), os.RemoveAll(dir))
		}
	}()
	c = &Cluster{programs: programs, dir: dir}
	if err := c.create(ctx); err != nil {
		return nil, err
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	if err := c.answers(ctx); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

// DSN returns the connection string of the cluster, in the form of libpq.
func (c *Cluster) DSN() string {
	return fmt.Sprintf("host=%s user=lockbench dbname=postgres sslmode=disable", c.dir)
}

// Stop ends the cluster and its sessions, and removes its folder.
func (c *Cluster) Stop() error { return errors.Join(c.end(), os.RemoveAll(c.dir)) }

// end ends the cluster, and leaves its folder.
func (c *Cluster) end() error {
	if err := c.server.Process.Signal(os.Interrupt); err != nil { // fast shutdown
		return fmt.Errorf("stop the private cluster: %w", err)
	}
	if err := c.server.Wait(); err != nil {
		return fmt.Errorf("stop the private cluster: %w", err)
	}
	return nil
}

func (c *Cluster) create(ctx context.Context) error {
	command := exec.CommandContext(ctx, filepath.Join(c.programs, "initdb"), "-D", c.data(), "-U", "lockbench", "-A", "trust", "-N", "--no-instructions")
	if err := unprivileged(command, c.dir); err != nil {
		return err
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// begin starts the server, with its output in a file.
func (c *Cluster) begin() error {
	log, err := os.Create(c.log())
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	c.server = exec.Command(filepath.Join(c.programs, "postgres"), "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200")
	c.server.Stdout, c.server.Stderr = log, log
	if err := unprivileged(c.server, c.dir); err != nil {
		return err
	}
	return c.server.Start()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }
func (c *Cluster) log() string  { return filepath.Join(c.dir, "log") }

// answers waits until the cluster answers.
func (c *Cluster) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for {
		out, err := exec.CommandContext(ctx, filepath.Join(c.programs, "pg_isready"), "-h", c.dir).CombinedOutput()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			text, _ := os.ReadFile(c.log())
			return fmt.Errorf("it does not answer: %w: %s\n%s", ctx.Err(), out, text)
		}
	}
}

// findPrograms returns the folder of the newest PostgreSQL that is installed.
func findPrograms() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // Debian's, outside of PATH
	if err != nil || len(found) == 0 {
		return "", errors.Join(ErrNoProgram, err)
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}
