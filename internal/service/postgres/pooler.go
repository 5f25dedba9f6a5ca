package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// ErrNoPooler means that PgBouncer is not installed.
var ErrNoPooler = errors.New("needs pgbouncer, and there is no program pgbouncer; hint: install it (Debian: pgbouncer)")

const poolerPrefix = "lockbench-pgbouncer-" // of the folders of private poolers

// A pooler is a private PgBouncer in front of a private server, and pools transactions: a statement
// outside of a transaction runs in whichever session is idle.
type pooler struct {
	program string
	server  *Server
	home    *tempdir.Dir
	front   *Server // as clients see it
	*daemon.Daemon
	either, closed chan struct{} // either is closed when the pooler or the server has ended by itself
}

// StartPooled is [Start], with a private PgBouncer that the processes of designs connect to. It has at
// most 20 sessions of the server, and uses the one that was idle for the shortest time: its defaults.
//
// Off Linux, PgBouncer outlives a SIGKILL of this process.
func StartPooled(ctx context.Context) (*Server, error) {
	program, err := findPooler()
	if err != nil {
		return nil, err
	}
	s, err := Start(ctx)
	if err != nil {
		return nil, err
	}
	p := &pooler{program: program, server: s, either: make(chan struct{}), closed: make(chan struct{})}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.pooler = p
	return s, nil
}

func (p *pooler) start(ctx context.Context) (err error) {
	if p.home, err = daemon.NewHome(daemon.Base(), poolerPrefix); err == nil {
		err = os.Chmod(p.home.Path, 0o711)
	}
	if err != nil {
		return fmt.Errorf("private pgbouncer: %w", err)
	}
	version, err := exec.CommandContext(ctx, p.program, "--version").Output()
	if err != nil {
		return errors.Join(fmt.Errorf("private pgbouncer: its version: %w", err), p.home.Remove())
	}
	address := *p.server.own.url
	address.RawQuery += "&default_query_exec_mode=exec" // a prepared statement belongs to a session
	p.Daemon, err = daemon.Start(ctx, daemon.Program{
		Name: "pgbouncer", Home: p.home,
		Listen: func() (err error) {
			if address.Host, err = servers.FreePort(); err == nil {
				p.front, err = newServer(design.Private, address.String())
			}
			return err
		},
		Command: p.command,
		Answers: p.answers,
	})
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(string(version), "\n")
	p.server.version, p.server.address = p.server.version+" behind "+strings.ToLower(name), p.front.address
	go func() {
		select {
		case <-p.Done():
			close(p.either)
		case <-p.server.own.Done():
			close(p.either)
		case <-p.closed:
		}
	}()
	return nil
}

// command returns the command that starts the pooler. It logs no connections.
func (p *pooler) command() (*exec.Cmd, error) {
	host, port, _ := net.SplitHostPort(p.server.own.url.Host)
	c := p.front.config
	settings, users := p.home.File("pgbouncer.ini"), p.home.File("users")
	text := fmt.Sprintf("[databases]\n%s = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = scram-sha-256\nauth_file = %s\npool_mode = transaction\nmax_client_conn = 500\nserver_login_retry = 0.1\n"+
		"log_connections = 0\nlog_disconnections = 0\nlog_stats = 0\n", c.Database, host, port, c.Port, users)
	err := errors.Join(
		os.WriteFile(settings, []byte(text), 0o600), daemon.Give(settings),
		os.WriteFile(users, fmt.Appendf(nil, "%q %q\n", c.User, c.Password), 0o600), daemon.Give(users),
	)
	command := exec.Command(p.program, settings)
	command.Dir = p.home.Path
	return command, errors.Join(err, daemon.Unprivileged(command))
}

// answers returns nil if the pooler answers and is ours: it knows the password, and leads to the server.
func (p *pooler) answers(ctx context.Context) error {
	where, err := p.front.direct().ask(ctx, "show data_directory")
	if err == nil && where != p.server.own.data() {
		err = fmt.Errorf("%w at %s, with data in %s", daemon.ErrForeign, p.front.address, where)
	}
	return err
}

// Close ends the pooler.
func (p *pooler) Close() error {
	close(p.closed)
	return p.Daemon.Close()
}

// debianPooler is Debian's program, which is not in the PATH of every user.
var debianPooler = "/usr/sbin/pgbouncer"

// findPooler returns the program of PgBouncer.
func findPooler() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath(debianPooler); err == nil {
		return path, nil
	}
	return "", ErrNoPooler
}
