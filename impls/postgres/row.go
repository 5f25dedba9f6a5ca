package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

// The statements of a row with a lease; %s is the table. clock_timestamp is the time at which the row
// is locked for the statement, and now() would be the start of the transaction. A release leaves the row, so that fences go on to rise.
const (
	takeRow = `insert into %s as l (key, token, fence, expires_at)
		values ($1, $2, 1, clock_timestamp() + $3::bigint * interval '1 microsecond')
		on conflict (key) do update set token = excluded.token, fence = l.fence + 1,
			expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
		where l.expires_at <= clock_timestamp() returning fence`
	extendRow = `update %s set expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
		where key = $1 and token = $2 and expires_at > clock_timestamp() returning fence`
	freeRow = `update %s set expires_at = '-infinity' where key = $1 and token = $2 and expires_at > clock_timestamp() returning fence`
)

// openRow is the Open of the design.
func openRow(env design.Environment) (design.Process, error) {
	p, access, err := newProcess(env)
	if err != nil {
		return nil, err
	}
	schema, err := access.Schema(context.Background(), env.Prefix)
	if err != nil {
		return nil, err
	}
	random := env.Random
	if random == nil {
		random = rand.Reader
	}
	var id [8]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return nil, err
	}
	r := &rows{process: p, table: schema + ".locks", id: hex.EncodeToString(id[:])}
	return design.NewProcess(func(o design.Observer) lockbench.Locker { return &rowOwner{owner{Process: p, Seen: o}, r} }, p.Close), nil
}

// An owner has sessions.
type owner = sessions.Owner[*postgres.Conn]

// rows is the table, and the tokens of a process.
type rows struct {
	*process
	table, id string
	grants    atomic.Int64
}

// A rowOwner is an owner of rows.
type rowOwner struct {
	owner
	in *rows
}

// ask sends a statement that changes a row, and returns its fence; ok is false if there is no such row.
func (o *rowOwner) ask(ctx context.Context, statement string, args ...any) (fence int64, ok bool, err error) {
	conn, err := o.Take(ctx)
	if err != nil {
		return 0, false, err
	}
	err = o.Send(ctx, conn, func(ctx context.Context) error {
		err := conn.QueryRow(ctx, fmt.Sprintf(statement, o.in.table), args...).Scan(&fence)
		ok = err == nil
		if errors.Is(err, pgx.ErrNoRows) { // an answer
			return nil
		}
		return err
	})
	if err == nil {
		o.Put(conn)
	}
	return fence, ok, err
}

// Acquire implements [lockbench.Locker].
func (o *rowOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l := &rowLease{owner: o, key: key}
	l.Granted = design.WholeMillis(opt.TTL)
	err := design.Poll(ctx, opt.Wait, design.Every(sessions.TryInterval), func() (bool, error) {
		l.token = fmt.Sprintf("%s-%d", o.in.id, o.in.grants.Add(1)) // one of an earlier try may still take the row
		l.From = o.Seen.Attempt(key)
		fence, ok, err := o.ask(ctx, takeRow, key, l.token, l.Granted.Microseconds())
		l.fence = uint64(fence)
		return ok, err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// A rowLease is one grant.
type rowLease struct {
	design.Validity
	owner      *rowOwner
	key, token string
	fence      uint64
}

// Fence implements [lockbench.Fencer].
func (l *rowLease) Fence() uint64 { return l.fence }

// Release implements [lockbench.Lease].
func (l *rowLease) Release(ctx context.Context) error {
	return l.change(l.owner.ask(ctx, freeRow, l.key, l.token))
}

// Extend implements [lockbench.Extender].
func (l *rowLease) Extend(ctx context.Context, ttl time.Duration) error {
	granted, from := design.WholeMillis(ttl), time.Now()
	err := l.change(l.owner.ask(ctx, extendRow, l.key, l.token, granted.Microseconds()))
	if err == nil {
		l.From, l.Granted = from, granted
	}
	return err
}

// change returns the error of a change of a row.
func (l *rowLease) change(_ int64, ok bool, err error) error {
	if err == nil && !ok {
		return lockbench.ErrNotHeld
	}
	return err
}
