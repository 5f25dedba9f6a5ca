package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

// tryInterval is the pause between two tries of an acquire that waits.
const tryInterval = 5 * time.Millisecond

var errClosed = errors.New("the process was closed")

// A process has the connections of its owners. The end of the process ends them, and what they hold.
type process struct {
	env    design.Environment
	access *postgres.Access

	mu   sync.Mutex
	open map[*postgres.Conn]struct{} // nil once it is closed
}

// newProcess returns a process of a design.
func newProcess(env design.Environment) (*process, error) {
	if len(env.Services) == 0 {
		return nil, errors.New("environment has no PostgreSQL; hint: give it the means of one")
	}
	access, ok := env.Services[0].(*postgres.Access)
	if !ok {
		return nil, fmt.Errorf("service of the environment is a %T, no PostgreSQL; hint: give it the means of one", env.Services[0])
	}
	return &process{env: env, access: access, open: map[*postgres.Conn]struct{}{}}, nil
}

// Close implements [design.Process].
func (p *process) Close() error {
	p.mu.Lock()
	all := p.open
	p.open = nil
	p.mu.Unlock()
	for conn := range all {
		_ = conn.PgConn().Conn().Close() // a request under way fails; it may be broken
	}
	return nil
}

// keep registers a connection, unless the process is closed.
func (p *process) keep(conn *postgres.Conn) error {
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
func (p *process) drop(conn *postgres.Conn) {
	p.mu.Lock()
	delete(p.open, conn)
	p.mu.Unlock()
	conn.Close()
}

// An owner has sessions, one for each of its grants.
type owner struct {
	*process
	seen design.Observer

	mu   sync.Mutex
	idle []*postgres.Conn
}

// take returns a session of the owner that holds nothing.
func (o *owner) take(ctx context.Context) (*postgres.Conn, error) {
	o.mu.Lock()
	if last := len(o.idle) - 1; last >= 0 {
		defer o.mu.Unlock()
		conn := o.idle[last]
		o.idle = o.idle[:last]
		return conn, nil
	}
	o.mu.Unlock()
	ctx, cancel := postgres.Patience(ctx)
	defer cancel()
	conn, err := o.access.Connect(ctx)
	if err == nil {
		err = o.keep(conn)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: connect: %w", lockbench.ErrNoEffect, err)
	}
	return conn, nil
}

// put takes back a session that holds nothing.
func (o *owner) put(conn *postgres.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = append(o.idle, conn)
}

// send sends a request in a session. After an error the session is ended, so that it holds nothing
// that its owner does not know of.
func (o *owner) send(ctx context.Context, conn *postgres.Conn, request func(context.Context) error) error {
	err := o.env.Pass(ctx, func(ctx context.Context) error {
		ctx, cancel := postgres.Patience(ctx)
		defer cancel()
		return request(ctx)
	})
	if err == nil {
		return nil
	}
	o.drop(conn)
	if postgres.HadNoEffect(err) {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err
}
