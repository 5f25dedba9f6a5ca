package mariadb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/mariadb"
)

// A pooled is the pool of a process.
type pooled struct {
	env   design.Environment
	pool  *sql.DB
	ended context.Context // at the end of the process, as all connections
	end   context.CancelFunc
}

// openPooled is the Open of mariadb/pooled.
func openPooled(env design.Environment) (design.Process, error) {
	access, err := accessOf(env)
	if err != nil {
		return nil, err
	}
	p := &pooled{env: env}
	if p.pool, err = access.Pool(); err != nil {
		return nil, err
	}
	p.ended, p.end = context.WithCancel(context.Background())
	return design.NewProcess(func(o design.Observer) lockbench.Locker { return &pooledOwner{p, o} }, p.close), nil
}

func (p *pooled) close() error {
	p.end()
	return p.pool.Close()
}

// tell sends a statement on a key, on a connection that the pool chooses.
func (p *pooled) tell(ctx context.Context, statement, key string) (yes bool, err error) {
	err = p.env.Pass(ctx, func(ctx context.Context) error {
		ctx, cancel := mariadb.Patience(ctx)
		defer cancel()
		defer context.AfterFunc(p.ended, cancel)()
		return p.pool.QueryRowContext(ctx, statement, p.env.Prefix+key).Scan(&yes)
	})
	if err != nil && mariadb.HadNoEffect(err) {
		return false, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return yes, err
}

// A pooledOwner is an owner with no session of its own.
type pooledOwner struct {
	*pooled
	seen design.Observer
}

// Acquire implements [lockbench.Locker].
func (o *pooledOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &pooledLease{pool: o.pooled, key: key}
	err := design.Poll(ctx, opt.Wait, design.Every(sessions.TryInterval), func() (bool, error) {
		held.From = o.seen.Attempt(key)
		return o.tell(ctx, take, key)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// A pooledLease is one grant. Granted of its embedded Validity is zero, since it has no end.
type pooledLease struct {
	design.Validity
	pool *pooled
	key  string
}

// Release implements [lockbench.Lease].
func (l *pooledLease) Release(ctx context.Context) error {
	freed, err := l.pool.tell(ctx, free, l.key)
	if err == nil && !freed {
		return lockbench.ErrNotHeld
	}
	return err
}
