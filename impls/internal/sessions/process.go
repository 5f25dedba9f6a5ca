package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// TryInterval is the pause between two tries of an acquire that waits.
const TryInterval = 5 * time.Millisecond

var errClosed = errors.New("the process was closed")

// A Conn is a connection. One goroutine uses it, but for Abort.
type Conn interface {
	comparable
	// Run sends a statement without a result.
	Run(ctx context.Context, statement string) error
	// Tell sends a statement with a key as its argument, whose result is true or false.
	Tell(ctx context.Context, statement, key string) (yes bool, err error)
	// Close ends the connection at once, and with it the session.
	Close()
	// Abort does so during a request, which fails. Close may follow.
	Abort()
}

// A Database opens connections, and tells what their errors mean.
type Database[C Conn] struct {
	Connect func(context.Context) (C, error)
	// Patience bounds how long a request waits for its reply.
	Patience func(context.Context) (context.Context, context.CancelFunc)
	// HadNoEffect reports whether an error shows that a statement was not run.
	HadNoEffect func(error) bool
	// Ended reports whether an error says that the server has ended the session.
	Ended func(error) bool
}

// A Process has the connections of its owners. The end of the process ends these, and their locks.
type Process[C Conn] struct {
	Env design.Environment
	db  Database[C]

	mu   sync.Mutex
	open map[C]struct{} // nil once it is closed
}

// NewProcess returns a process of a design.
func NewProcess[C Conn](env design.Environment, db Database[C]) *Process[C] {
	return &Process[C]{Env: env, db: db, open: map[C]struct{}{}}
}

// Close implements [design.Process].
func (p *Process[C]) Close() error {
	p.mu.Lock()
	all := p.open
	p.open = nil
	p.mu.Unlock()
	for conn := range all {
		conn.Abort()
	}
	return nil
}

// keep registers a connection, unless the process is closed.
func (p *Process[C]) keep(conn C) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		conn.Close()
		return errClosed
	}
	p.open[conn] = struct{}{}
	return nil
}

// drop ends a connection, and the session with it.
func (p *Process[C]) drop(conn C) {
	p.mu.Lock()
	delete(p.open, conn)
	p.mu.Unlock()
	conn.Close()
}

// An owner has sessions, one for each of its grants.
type owner[C Conn] struct {
	*Process[C]
	seen design.Observer

	mu   sync.Mutex
	idle []C
}

// take returns a session of the owner that holds nothing.
func (o *owner[C]) take(ctx context.Context) (conn C, err error) {
	o.mu.Lock()
	if last := len(o.idle) - 1; last >= 0 {
		defer o.mu.Unlock()
		conn = o.idle[last]
		o.idle = o.idle[:last]
		return conn, nil
	}
	o.mu.Unlock()
	ctx, cancel := o.db.Patience(ctx)
	defer cancel()
	if conn, err = o.db.Connect(ctx); err == nil {
		err = o.keep(conn)
	}
	if err != nil {
		return conn, fmt.Errorf("%w: connect: %w", lockbench.ErrNoEffect, err)
	}
	return conn, nil
}

// put takes back a session that holds nothing.
func (o *owner[C]) put(conn C) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = append(o.idle, conn)
}

// send sends a request in a session. After an error it ends the session, which may hold a lock unknown to
// the owner.
func (o *owner[C]) send(ctx context.Context, conn C, request func(context.Context) error) error {
	err := o.Env.Pass(ctx, func(ctx context.Context) error {
		ctx, cancel := o.db.Patience(ctx)
		defer cancel()
		return request(ctx)
	})
	if err == nil {
		return nil
	}
	o.drop(conn)
	if o.db.HadNoEffect(err) {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err
}
