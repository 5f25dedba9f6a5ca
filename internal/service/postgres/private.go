package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// ErrNoProgram means that PostgreSQL is not installed.
var ErrNoProgram = errors.New("needs postgresql, and there is no program postgres; hint: install it (Debian: postgresql), or name a server: --server postgres://USER:PASSWORD@HOST/DATABASE")

const homePrefix = "lockbench-postgres-" // of the folders of private servers

// A private is a private server.
type private struct {
	programs string // their folder
	home     *tempdir.Dir
	url      *url.URL // with the password
	*daemon.Daemon
}

// Start starts a private server, and returns when it answers, within a minute. It listens on a
// loopback port, and syncs nothing to disk. The error is [ErrNoProgram] if PostgreSQL is not installed.
//
// On Linux it ends with this process however that ends. Elsewhere it ends within a minute of the
// next Start after a SIGKILL of this process, because it then misses its folder.
func Start(ctx context.Context) (*Server, error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	home, err := daemon.NewHome(daemon.Base(), homePrefix)
	if err != nil {
		return nil, fmt.Errorf("private postgresql: %w", err)
	}
	p := &private{programs: programs, home: home}
	if err := p.create(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("private postgresql: %w", err), home.Remove())
	}
	return p.start(ctx)
}

// start starts a server on the data of p. It removes the folder if that fails.
func (p *private) start(ctx context.Context) (s *Server, err error) {
	p.Daemon, err = daemon.Start(ctx, daemon.Program{
		Name: "postgresql", Home: p.home,
		Listen: func() (err error) {
			if p.url.Host, err = servers.FreePort(); err == nil {
				s, err = newServer(design.Private, p.url.String())
			}
			return err
		},
		Command:  p.command,
		Answers:  func(ctx context.Context) error { return p.answers(ctx, s) },
		Quit:     syscall.SIGQUIT, // without a last checkpoint; a server that is not killed gives back its shared memory
		Children: signalBackends,
	})
	if err != nil {
		return nil, err
	}
	s.own = p
	return s, nil
}

// create makes the data of the server, below a folder of the user that it runs as.
func (p *private) create(ctx context.Context) error {
	password := rand.Text()
	p.url = &url.URL{Scheme: "postgres", User: url.UserPassword("lockbench", password), Path: "/postgres", RawQuery: "sslmode=disable"}
	secret := filepath.Join(p.folder(), "password")
	err := p.makeFolder()
	if err == nil {
		err = errors.Join(os.WriteFile(secret, []byte(password), 0o600), daemon.Give(secret))
	}
	if err != nil {
		return err
	}
	if err := p.make(ctx, "initdb", nil, "-D", p.data(), "-U", "lockbench", "-A", "scram-sha-256",
		"--pwfile", secret, "-N", "-E", "UTF8", "--no-locale", "--no-instructions"); err != nil {
		return err
	}
	return os.Remove(secret)
}

// make runs a program of PostgreSQL that makes the data of the server, with more variables.
func (p *private) make(ctx context.Context, program string, variables []string, args ...string) error {
	command := exec.CommandContext(ctx, filepath.Join(p.programs, program), args...)
	if err := daemon.Unprivileged(command); err != nil {
		return err
	}
	command.Dir, command.Env = p.folder(), append(os.Environ(), variables...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// makeFolder makes the folder of the user that the server runs as.
func (p *private) makeFolder() error {
	return errors.Join(os.Chmod(p.home.Path, 0o711), os.Mkdir(p.folder(), 0o700), daemon.Give(p.folder()))
}

func (p *private) folder() string { return filepath.Join(p.home.Path, "server") }
func (p *private) data() string   { return filepath.Join(p.folder(), "data") }

// command returns the command that starts the server.
func (p *private) command() (*exec.Cmd, error) {
	_, port, _ := net.SplitHostPort(p.url.Host)
	command := exec.Command(filepath.Join(p.programs, "postgres"), "-D", p.data(), "-p", port)
	for _, setting := range []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=500"} {
		command.Args = append(command.Args, "-c", setting)
	}
	command.Dir = p.folder()
	return command, daemon.Unprivileged(command)
}

// answers returns nil if s answers and is ours: it knows the password, and where its data are.
func (p *private) answers(ctx context.Context, s *Server) error {
	where, err := s.direct().ask(ctx, "show data_directory")
	if err == nil && where != p.data() {
		return fmt.Errorf("%w at %s, with data in %s", daemon.ErrForeign, p.url.Host, where)
	}
	if err != nil || s.version != "" {
		return err
	}
	version, err := s.direct().ask(ctx, "show server_version")
	s.version = "postgresql " + version
	return err
}

// Done implements [design.Mortal].
func (s *Server) Done() <-chan struct{} {
	if s.own == nil {
		return nil
	}
	if s.pooler != nil {
		return s.pooler.either
	}
	return s.own.Done()
}

// Err implements [design.Mortal].
func (s *Server) Err() error {
	if s.own == nil {
		return nil
	}
	if s.pooler != nil && s.pooler.Err() != nil {
		return s.pooler.Err()
	}
	return s.own.Err()
}

// Restart implements [design.Restarter]. What was committed is there afterwards; sessions are not.
func (s *Server) Restart(ctx context.Context, between func()) error {
	return s.own.Restart(ctx, between)
}

// EndSessions implements [design.SessionEnder]. It spares lockbench's own.
func (s *Server) EndSessions(ctx context.Context) error {
	const others = "from pg_stat_activity where backend_type = 'client backend' and application_name <> $1"
	return s.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		rows, err := conn.Query(ctx, "select pid, pg_terminate_backend(pid) "+others, ourName)
		if err != nil {
			return err
		}
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (pid int32, err error) {
			err = row.Scan(&pid, nil)
			return pid, err
		})
		for left := len(found); err == nil && left > 0; {
			time.Sleep(time.Millisecond) // a session ends soon after the signal
			err = conn.QueryRow(ctx, "select count(*) "+others+" and pid = any($2)", ourName, found).Scan(&left)
		}
		return err
	})
}

var errNotSuspended = errors.New("the backends of a PostgreSQL can be stopped on Linux only; hint: leave this fault out")

// Suspend implements [design.Suspender].
func (s *Server) Suspend() error {
	if !suspends {
		return errNotSuspended
	}
	return s.own.Suspend()
}

// Resume implements [design.Suspender].
func (s *Server) Resume() error { return s.own.Resume() }

// Missing returns [ErrNoProgram] if PostgreSQL is not installed.
func Missing() error {
	_, err := findPrograms()
	return err
}

// debian matches Debian's programs, which are not in PATH.
var debian = "/usr/lib/postgresql/*/bin/postgres"

// findPrograms returns the folder of the newest PostgreSQL that is installed.
func findPrograms() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob(debian)
	if err != nil || len(found) == 0 {
		return "", errors.Join(ErrNoProgram, err)
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}
