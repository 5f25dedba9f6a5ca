package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

// recordConnections bounds the connections of records. Clients beyond the bound wait for their turn.
const recordConnections = 32

// records are rows with a version, and the highest fence that was shown for each.
type records struct {
	server *Server
	pool   *sql.DB
	err    error // instead of a pool
	table  string
}

// Records implements [design.Keeper].
func (s *Server) Records(prefix string) design.Records {
	r := &records{server: s, table: prefix + "records"}
	if r.pool, r.err = s.direct().Pool(); r.err == nil {
		r.pool.SetMaxOpenConns(recordConnections)
		r.pool.SetMaxIdleConns(recordConnections)
	}
	return r
}

// Close implements [design.Records].
func (r *records) Close() error {
	if r.err != nil {
		return nil
	}
	return r.pool.Close()
}

// with calls f with a connection, when there is the table.
func (r *records) with(ctx context.Context, f func(context.Context, *sql.Conn) error) error {
	ctx, cancel := Patience(ctx)
	defer cancel()
	err := r.err
	if err == nil {
		err = r.server.create(ctx, r.table, "name varbinary(700) primary key, value bigint not null, version bigint unsigned not null, fence bigint unsigned not null")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	conn, err := r.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	defer conn.Close()
	err = f(ctx, conn)
	if err != nil && HadNoEffect(err) {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err
}

// errStale is the error of a write by a caller whose view of the record is old.
var errStale = fmt.Errorf("%w: %w", lockbench.ErrNoEffect, lockbench.ErrStale)

// update runs the statement update on the row of key, %s in it, and after a miss again when there is a row.
// Its error is errStale if it misses the row.
func (r *records) update(ctx context.Context, conn *sql.Conn, key, update string, args ...any) error {
	table := quote(r.table)
	change := func(statement string, args ...any) (found int64, err error) {
		result, err := conn.ExecContext(ctx, fmt.Sprintf(statement, table), args...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	found, err := change(update, args...)
	if err == nil && found == 0 {
		_, err = change("insert ignore into %s values (?, 0, 0, 0)", []byte(key))
		if err == nil {
			found, err = change(update, args...)
		}
	}
	if err == nil && found == 0 {
		return errStale
	}
	return err
}

// read reads the record of a row that the condition admits. Its error is sql.ErrNoRows if there is none.
func (r *records) read(ctx context.Context, conn *sql.Conn, condition string, args ...any) (found lockbench.Record, err error) {
	err = conn.QueryRowContext(ctx, "select value, version from "+quote(r.table)+" where "+condition, args...).Scan(&found.Value, &found.Version)
	return found, err
}

// Read implements [lockbench.Store].
func (r *records) Read(ctx context.Context, key string) (found lockbench.Record, err error) {
	err = r.with(ctx, func(ctx context.Context, conn *sql.Conn) (err error) {
		found, err = r.read(ctx, conn, "name = ?", []byte(key))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return found, backend.Reading(key, err)
}

// write sets the record of the row that the condition admits.
func (r *records) write(ctx context.Context, key string, to lockbench.Record, condition string, args ...any) error {
	return backend.Writing(key, r.with(ctx, func(ctx context.Context, conn *sql.Conn) error {
		return r.update(ctx, conn, key, "update %s set value = ?, version = ? where name = ? and "+condition, append([]any{to.Value, to.Version, []byte(key)}, args...)...)
	}))
}

// Write implements [lockbench.Store].
func (r *records) Write(ctx context.Context, key string, to lockbench.Record) error {
	return r.write(ctx, key, to, "true")
}

// Guarded implements [design.Records].
func (r *records) Guarded(by lockbench.Guard) (lockbench.Store, error) {
	return design.ByGuard(by, r, fenced{r}, compared{r})
}

// fenced refuses a fence that is lower than one that was shown.
type fenced struct{ *records }

// ReadGuarded implements [lockbench.GuardedStore]. It reads the row if no higher fence was shown meanwhile.
func (r fenced) ReadGuarded(ctx context.Context, key string, fence uint64) (found lockbench.Record, err error) {
	err = r.with(ctx, func(ctx context.Context, conn *sql.Conn) (err error) {
		err = r.update(ctx, conn, key, "update %s set fence = ? where name = ? and fence <= ?", fence, []byte(key), fence)
		if err == nil {
			found, err = r.read(ctx, conn, "name = ? and fence = ?", []byte(key), fence)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return errStale
		}
		return err
	})
	return found, backend.Reading(key, err)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r fenced) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	return backend.Writing(key, r.with(ctx, func(ctx context.Context, conn *sql.Conn) error {
		return r.update(ctx, conn, key, "update %s set value = ?, version = ?, fence = ? where name = ? and fence <= ?", to.Value, to.Version, by.Fence, []byte(key), by.Fence)
	}))
}

// compared writes only if nobody has written since the writer read.
type compared struct{ *records }

// ReadGuarded implements [lockbench.GuardedStore].
func (r compared) ReadGuarded(ctx context.Context, key string, _ uint64) (lockbench.Record, error) {
	return r.Read(ctx, key)
}

// WriteGuarded implements [lockbench.GuardedStore].
func (r compared) WriteGuarded(ctx context.Context, key string, to lockbench.Record, by lockbench.Standing) error {
	return r.write(ctx, key, to, "version = ?", by.Base)
}
