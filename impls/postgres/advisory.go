package postgres

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

// An advisory is a way to take and free advisory locks by statements. Those of take are sent one after
// the other; the last tells whether it granted. back is sent after a refusal, unless it is empty. free
// tells whether the session had the lock.
type advisory struct {
	begin, take, back, free string
}

var (
	bySession     = advisory{take: "select pg_try_advisory_lock(hashtextextended($1, 0))", free: "select pg_advisory_unlock(hashtextextended($1, 0))"}
	byTransaction = advisory{begin: "begin", take: "select pg_try_advisory_xact_lock(hashtextextended($1, 0))", back: "rollback", free: "commit"}
)

// opener returns the Open of a design that locks by a.
func (a *advisory) opener() func(design.Environment) (design.Process, error) {
	return func(env design.Environment) (design.Process, error) {
		p, err := newProcess(env)
		if err != nil {
			return nil, err
		}
		return design.NewProcess(func(o design.Observer) lockbench.Locker { return &session{owner{process: p, seen: o}, a} }, p.Close), nil
	}
}

// A session is an owner of advisory locks.
type session struct {
	owner
	by *advisory
}

// Acquire implements [lockbench.Locker].
func (s *session) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &sessionLease{session: s, key: s.env.Prefix + key}
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (granted bool, err error) {
		held.From = s.seen.Attempt(key)
		if held.conn, err = s.take(ctx); err != nil {
			return false, err
		}
		return s.try(ctx, held)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// try makes one try. A session that is refused holds nothing.
func (s *session) try(ctx context.Context, held *sessionLease) (granted bool, err error) {
	if err := s.exec(ctx, held.conn, s.by.begin); err != nil {
		return false, err
	}
	err = s.send(ctx, held.conn, func(ctx context.Context) error {
		return held.conn.QueryRow(ctx, s.by.take, held.key).Scan(&granted)
	})
	if err != nil || granted {
		return granted, err
	}
	if s.exec(ctx, held.conn, s.by.back) == nil { // else it is ended
		s.put(held.conn)
	}
	return false, nil
}

// exec sends a statement without a result; an empty one is none.
func (s *session) exec(ctx context.Context, conn *postgres.Conn, statement string) error {
	if statement == "" {
		return nil
	}
	return s.send(ctx, conn, func(ctx context.Context) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// A sessionLease is one grant. Granted of its embedded Validity is zero, since it has no end.
type sessionLease struct {
	design.Validity
	session *session
	conn    *postgres.Conn
	key     string
}

// Release implements [lockbench.Lease].
func (l *sessionLease) Release(ctx context.Context) (err error) {
	s, freed := l.session, true
	if l.conn == nil {
		return lockbench.ErrNotHeld
	}
	conn := l.conn
	l.conn = nil
	if s.by.begin != "" {
		err = s.exec(ctx, conn, s.by.free)
	} else {
		err = s.send(ctx, conn, func(ctx context.Context) error { return conn.QueryRow(ctx, s.by.free, l.key).Scan(&freed) })
	}
	if err != nil {
		return lost(err)
	}
	s.put(conn)
	if !freed {
		return lockbench.ErrNotHeld
	}
	return nil
}

// lost returns err, the error of a release. If the server says that it has ended the session, the owner
// held nothing.
func lost(err error) error {
	if postgres.Ended(err) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
