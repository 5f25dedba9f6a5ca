package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// replicaInterval is the time between two looks at what a replica has.
const replicaInterval = 10 * time.Millisecond

// A replica is a hot standby, which replays the log that a server streams to it. It knows no session, and so
// no advisory lock.
type replica struct {
	of     *Server
	server *Server
	own    *private // nil when it has taken the place of the server
}

// ListenTCP implements [design.Replicator]. A pooler has another address.
func (s *Server) ListenTCP(context.Context) (string, error) { return s.own.url.Host, nil }

// StartReplica implements [design.Replicator].
func (s *Server) StartReplica(ctx context.Context, via string) (design.Replica, error) {
	home, err := daemon.NewHome(daemon.Base(), homePrefix)
	if err != nil {
		return nil, fmt.Errorf("replica of postgresql: %w", err)
	}
	address := *s.own.url
	r := &replica{of: s, own: &private{programs: s.own.programs, home: home, url: &address}}
	if err := r.copy(ctx, via); err != nil {
		return nil, errors.Join(fmt.Errorf("replica of postgresql: %w", err), home.Remove())
	}
	r.own.Daemon, err = daemon.Start(ctx, daemon.Program{
		Name: "postgresql", Home: home,
		Listen: func() (err error) {
			if r.own.url.Host, err = servers.FreePort(); err == nil {
				r.server, err = newServer(design.Private, r.own.url.String())
			}
			return err
		},
		Command:  r.own.command,
		Answers:  func(ctx context.Context) error { return r.own.answers(ctx, r.server) },
		Quit:     syscall.SIGQUIT,
		Children: signalBackends,
	})
	if err != nil {
		return nil, err
	}
	for {
		lacks, err := r.lacks(ctx)
		if err == nil && lacks <= 0 {
			return r, nil
		}
		select {
		case <-time.After(replicaInterval):
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("replica of postgresql: %w", ctx.Err()), err, r.Close())
		}
	}
}

// copy copies the data of the server through the address via, to which the replica will connect.
func (r *replica) copy(ctx context.Context, via string) error {
	p := r.own
	host, port, err := net.SplitHostPort(via)
	if err != nil {
		return err
	}
	if err := p.makeFolder(); err != nil {
		return err
	}
	password, _ := p.url.User.Password()
	from := url.URL{Scheme: "postgres", User: url.User(p.url.User.Username()), Host: net.JoinHostPort(host, port), RawQuery: p.url.RawQuery}
	command := exec.CommandContext(ctx, filepath.Join(p.programs, "pg_basebackup"), "-D", p.data(), "-d", from.String(), "-R", "-c", "fast", "-N")
	command.Dir, command.Env = p.folder(), append(os.Environ(), "PGPASSWORD="+password)
	if err := daemon.Unprivileged(command); err != nil {
		return err
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	return nil
}

// lacks returns how many bytes of the server's log the replica lacks.
func (r *replica) lacks(ctx context.Context) (n int64, err error) {
	at, err := r.of.direct().ask(ctx, "select pg_current_wal_lsn()::text")
	if err != nil {
		return 0, err
	}
	err = r.server.direct().with(ctx, func(ctx context.Context, conn *Conn) error {
		return conn.QueryRow(ctx, "select pg_wal_lsn_diff($1::text::pg_lsn, pg_last_wal_replay_lsn())::bigint", at).Scan(&n)
	})
	return n, err
}

// Behind implements [design.Replica]. A replica always lacks something: the sessions.
func (r *replica) Behind(ctx context.Context) (int64, error) {
	n, err := r.lacks(ctx)
	return max(n, 1), err
}

// Failover implements [design.Replica]. The replica is promoted, and then started at the address of the server,
// with its data in place of the server's.
func (r *replica) Failover(ctx context.Context, between func()) error {
	var failed error
	err := r.of.own.Restart(ctx, func() {
		between()
		if _, failed = r.server.direct().ask(ctx, "select pg_promote()::text"); failed != nil {
			return
		}
		to, from := r.of.own.data(), r.own.data()
		failed = errors.Join(r.own.Stop(), os.RemoveAll(to), os.Rename(from, to))
	})
	failed = errors.Join(failed, err, r.own.Close())
	r.own = nil
	return failed
}

// Close implements [design.Replica].
func (r *replica) Close() error {
	if r.own == nil {
		return nil
	}
	return r.own.Close()
}
