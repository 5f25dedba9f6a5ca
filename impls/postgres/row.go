package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/postgres"
)

// The statements of a row with a lease; %s is the table. clock_timestamp is the time at which the row
// is locked for the statement, and now() would be the start of the transaction.
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
	return sessions.Rows(p, rows(schema+".locks"))
}

// rows is the name of the table.
type rows string

// ask sends a statement that changes a row, and returns its fence; ok is false if there is no such row.
func (r rows) ask(ctx context.Context, conn *postgres.Conn, statement string, args ...any) (fence uint64, ok bool, err error) {
	err = conn.QueryRow(ctx, fmt.Sprintf(statement, r), args...).Scan(&fence)
	if errors.Is(err, pgx.ErrNoRows) { // an answer
		return 0, false, nil
	}
	return fence, err == nil, err
}

// Take implements [sessions.Table].
func (r rows) Take(ctx context.Context, conn *postgres.Conn, key, token string, lease time.Duration) (fence uint64, ok bool, err error) {
	return r.ask(ctx, conn, takeRow, key, token, lease.Microseconds())
}

// Extend implements [sessions.Table].
func (r rows) Extend(ctx context.Context, conn *postgres.Conn, key, token string, lease time.Duration) (bool, error) {
	_, ok, err := r.ask(ctx, conn, extendRow, key, token, lease.Microseconds())
	return ok, err
}

// Free implements [sessions.Table].
func (r rows) Free(ctx context.Context, conn *postgres.Conn, key, token string) (bool, error) {
	_, ok, err := r.ask(ctx, conn, freeRow, key, token)
	return ok, err
}
