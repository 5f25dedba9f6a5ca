package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/daemon"
)

// A replica is a hot standby, which replays the log that a server streams to it.
type replica struct {
	of     *Server
	server *Server // nil when it has taken the place of the other
}

// ListenTCP implements [design.Replicator]. A pooler has another address.
func (s *Server) ListenTCP(context.Context) (string, error) { return s.own.url.Host, nil }

// StartReplica implements [design.Replicator].
func (s *Server) StartReplica(ctx context.Context, via string) (design.Replica, error) {
	r := &replica{of: s}
	if err := r.start(ctx, via); err != nil {
		return nil, errors.Join(fmt.Errorf("replica of postgresql: %w", err), r.Close())
	}
	return r, nil
}

func (r *replica) start(ctx context.Context, via string) error {
	home, err := daemon.NewHome(daemon.Base(), homePrefix)
	if err != nil {
		return err
	}
	address := *r.of.own.url
	p := &private{programs: r.of.own.programs, home: home, url: &address}
	if err := p.copy(ctx, via); err != nil {
		return errors.Join(err, home.Remove())
	}
	if r.server, err = p.start(ctx); err != nil {
		return err
	}
	return daemon.Await(ctx, func(ctx context.Context) error {
		lacks, err := r.lacks(ctx)
		if err == nil && lacks > 0 {
			err = fmt.Errorf("it lacks %d bytes of the log", lacks)
		}
		return err
	})
}

// copy copies the data of the server at an address. A standby on them streams from that address.
func (p *private) copy(ctx context.Context, via string) error {
	if err := p.makeFolder(); err != nil {
		return err
	}
	password, _ := p.url.User.Password()
	from := url.URL{Scheme: "postgres", User: url.User(p.url.User.Username()), Host: via, RawQuery: p.url.RawQuery}
	return p.make(ctx, "pg_basebackup", []string{"PGPASSWORD=" + password}, "-D", p.data(), "-d", from.String(), "-R", "-c", "fast", "-N")
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

// Behind implements [design.Replica]. A replica always lacks the sessions, and with them their locks.
func (r *replica) Behind(context.Context) (int64, error) { return 1, nil }

// Failover implements [design.Replica]. The replica is promoted, and then started at the address of the server,
// with its data in place of the server's.
func (r *replica) Failover(ctx context.Context, between func()) error {
	primary, standby := r.of.own, r.server.own
	var failed error
	err := primary.Restart(ctx, func() {
		between()
		if failed = r.promote(ctx); failed == nil {
			failed = errors.Join(standby.Stop(), os.RemoveAll(primary.data()), os.Rename(standby.data(), primary.data()))
		}
	})
	return errors.Join(failed, err, r.Close())
}

// promote makes the replica a server of its own. On a busy machine that takes longer than one request may.
func (r *replica) promote(ctx context.Context) error {
	if _, err := r.server.direct().ask(ctx, "select pg_promote(false)::text"); err != nil {
		return err
	}
	return daemon.Await(ctx, func(ctx context.Context) error {
		recovering, err := r.server.direct().ask(ctx, "select pg_is_in_recovery()::text")
		if err == nil && recovering != "false" {
			err = errors.New("it is not promoted yet")
		}
		return err
	})
}

// Close implements [design.Replica].
func (r *replica) Close() error {
	if r.server == nil {
		return nil
	}
	p := r.server.own
	r.server = nil
	return p.Close()
}
