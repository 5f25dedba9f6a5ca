package sessions

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// Statements take and free a lock. Take and Free have the key as their argument; Take tells whether it
// granted, Free whether the session had the lock. A lock of a transaction has Begin, which is sent before
// Take, Back, which is sent after a refusal, and a Free without a result. They are empty otherwise.
type Statements struct {
	Begin, Take, Back, Free string
}

// Locks returns a process of a design that locks by statements.
func Locks[C Conn](p *Process[C], by Statements) design.Process {
	return design.NewProcess(func(o design.Observer) lockbench.Locker {
		return &locker[C]{owner[C]{Process: p, seen: o}, by}
	}, p.Close)
}

// A locker is an owner of such locks.
type locker[C Conn] struct {
	owner[C]
	by Statements
}

// Acquire implements [lockbench.Locker].
func (s *locker[C]) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &lease[C]{owner: s, key: s.Env.Prefix + key, holds: true}
	err := design.Poll(ctx, opt.Wait, design.Every(TryInterval), func() (granted bool, err error) {
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
func (s *locker[C]) try(ctx context.Context, held *lease[C]) (granted bool, err error) {
	if err := s.run(ctx, held.conn, s.by.Begin); err != nil {
		return false, err
	}
	granted, err = s.tell(ctx, held, s.by.Take)
	if err != nil || granted {
		return granted, err
	}
	if s.run(ctx, held.conn, s.by.Back) == nil { // else it is ended
		s.put(held.conn)
	}
	return false, nil
}

// run sends a statement without a result; an empty one is none.
func (s *locker[C]) run(ctx context.Context, conn C, statement string) error {
	if statement == "" {
		return nil
	}
	return s.send(ctx, conn, func(ctx context.Context) error { return conn.Run(ctx, statement) })
}

// tell sends a statement on the key of a lease.
func (s *locker[C]) tell(ctx context.Context, l *lease[C], statement string) (yes bool, err error) {
	err = s.send(ctx, l.conn, func(ctx context.Context) (err error) {
		yes, err = l.conn.Tell(ctx, statement, l.key)
		return err
	})
	return yes, err
}

// A lease is one grant. Granted of its embedded Validity is zero, since it has no end.
type lease[C Conn] struct {
	design.Validity
	owner *locker[C]
	conn  C
	key   string
	holds bool // until it is released
}

// Release implements [lockbench.Lease].
func (l *lease[C]) Release(ctx context.Context) (err error) {
	s, freed := l.owner, true
	if !l.holds {
		return lockbench.ErrNotHeld
	}
	l.holds = false
	if s.by.Begin != "" {
		err = s.run(ctx, l.conn, s.by.Free)
	} else {
		freed, err = s.tell(ctx, l, s.by.Free)
	}
	if err != nil {
		return s.lost(err)
	}
	s.put(l.conn)
	if !freed {
		return lockbench.ErrNotHeld
	}
	return nil
}

// lost returns err, the error of a release. If the server says that it has ended the session, the owner
// held nothing.
func (s *locker[C]) lost(err error) error {
	if s.db.Ended(err) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
