package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

// recordConnections bounds the connections of records. Clients beyond the bound wait for their turn.
const recordConnections = 32

// records are rows with a version, and the highest fence that was shown for each.
type records struct {
	access *Access
	prefix string
	turns  chan *Conn // each with its connection, or nil before one is open
}

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records {
	r := &records{access: s.direct(), prefix: prefix, turns: make(chan *Conn, recordConnections)}
	for range recordConnections {
		r.turns <- nil
	}
	return r
}

// Close implements [design.Records].
func (r *records) Close() error {
	for range recordConnections {
		if conn := <-r.turns; conn != nil {
			conn.Close()
		}
		r.turns <- nil
	}
	return nil
}

// row runs a statement on the table, %s in it, and scans the row that it returns into what it is
// given. Its error is lockbench.ErrStale if there is no row.
func (r *records) row(ctx context.Context, statement string, args, into []any) (err error) {
	var conn *Conn
	select {
	case conn = <-r.turns:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, ctx.Err())
	}
	defer func() { r.turns <- conn }()
	ctx, cancel := Patience(ctx)
	defer cancel()
	schema, err := r.access.Schema(ctx, r.prefix)
	if err == nil && conn == nil {
		conn, err = r.access.Connect(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	err = conn.QueryRow(ctx, fmt.Sprintf(statement, schema+".records"), args...).Scan(into...)
	if conn.IsClosed() {
		conn.Close()
		conn = nil
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, lockbench.ErrStale)
	case err != nil && HadNoEffect(err):
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err
}

// scanned returns where to scan a record into. The number of a version is any 64 bits.
func scanned(r *lockbench.Record, version *int64) []any { return []any{&r.Value, version} }

// Read implements [lockbench.Store].
func (r *records) Read(ctx context.Context, key string) (found lockbench.Record, err error) {
	var version int64
	err = r.row(ctx, "select coalesce(max(value), 0), coalesce(max(version), 0) from %s where key = $1", []any{key}, scanned(&found, &version))
	found.Version = uint64(version)
	return found, backend.Reading(key, err)
}

// Write implements [lockbench.Store].
func (r *records) Write(ctx context.Context, key string, to lockbench.Record) error {
	var one int
	return backend.Writing(key, r.row(ctx, `insert into %s (key, value, version, fence) values ($1, $2, $3, 0)
		on conflict (key) do update set value = excluded.value, version = excluded.version returning 1`,
		[]any{key, to.Value, int64(to.Version)}, []any{&one}))
}

// Guarded implements [design.Records].
func (r *records) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, r, fenced{r}, compared{r})
}

// fenced refuses a fence that is lower than one that was shown.
type fenced struct{ *records }

// ReadGuarded implements [lockbench.GuardedStore].
func (r fenced) ReadGuarded(ctx context.Context, key string, fence uint64) (found lockbench.Record, err error) {
	var version int64
	err = r.row(ctx, `insert into %s as r (key, value, version, fence) values ($1, 0, 0, $2)
		on conflict (key) do update set fence = excluded.fence where r.fence <= excluded.fence returning value, version`,
		[]any{key, int64(fence)}, scanned(&found, &version))
	found.Version = uint64(version)
	return found, backend.Reading(key, err)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r fenced) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	var one int
	return backend.Writing(key, r.row(ctx, `insert into %s as r (key, value, version, fence) values ($1, $2, $3, $4)
		on conflict (key) do update set value = excluded.value, version = excluded.version, fence = excluded.fence
		where r.fence <= excluded.fence returning 1`,
		[]any{key, to.Value, int64(to.Version), int64(by.Fence)}, []any{&one}))
}

// compared writes only if nobody has written since the writer read.
type compared struct{ *records }

// ReadGuarded implements [lockbench.GuardedStore].
func (r compared) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return r.Read(ctx, key)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r compared) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	statement, args := "update %s set value = $2, version = $3 where key = $1 and version = $4 returning 1", []any{key, to.Value, int64(to.Version), int64(by.Base)}
	if by.Base == 0 { // there may be no record
		statement, args = `insert into %s as r (key, value, version, fence) values ($1, $2, $3, 0)
			on conflict (key) do update set value = excluded.value, version = excluded.version where r.version = 0 returning 1`, args[:3]
	}
	var one int
	return backend.Writing(key, r.row(ctx, statement, args, []any{&one}))
}
