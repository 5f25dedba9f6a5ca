package mariadb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/sessions"
	"github.com/lockbench/lockbench/internal/service/mariadb"
)

// The statements of a row with a lease; %s is the table. utc_timestamp is the start of the statement, before
// it waits for the row: a lease that seems to last by it is left alone, and a new one is no shorter than asked
// for from the call on.
const (
	takeRow = `update %s set token = ?, expires_at = utc_timestamp(6) + interval ? microsecond, fence = last_insert_id(fence + 1)
		where name = ? and expires_at <= utc_timestamp(6)`
	makeRow   = "insert ignore into %s (name, token, fence, expires_at) values (?, '', 0, '1970-01-01')"
	extendRow = "update %s set expires_at = utc_timestamp(6) + interval ? microsecond where name = ? and token = ? and expires_at > utc_timestamp(6)"
	freeRow   = "update %s set expires_at = '1970-01-01' where name = ? and token = ? and expires_at > utc_timestamp(6)"
)

// openRow is the Open of mariadb/row.
func openRow(env design.Environment) (design.Process, error) {
	access, err := accessOf(env)
	if err != nil {
		return nil, err
	}
	table, err := access.Table(context.Background(), env.Prefix+"locks", "name varbinary(700) primary key, token varbinary(64) not null, fence bigint unsigned not null, expires_at datetime(6) not null")
	if err != nil {
		return nil, err
	}
	return sessions.Rows(newProcess(env, access), &rows{table: table})
}

// rows is the table of mariadb/row.
type rows struct {
	table string
	made  sync.Map // keys whose rows are known to exist
}

// change runs a statement, and returns the number of rows that it found, and that of last_insert_id.
func (r *rows) change(ctx context.Context, conn *mariadb.Conn, statement string, args ...any) (found, id int64, err error) {
	result, err := conn.ExecContext(ctx, fmt.Sprintf(statement, r.table), args...)
	if err != nil {
		return 0, 0, err
	}
	found, _ = result.RowsAffected() // never fails
	id, _ = result.LastInsertId()    // as above
	return found, id, nil
}

// Take implements [sessions.Table].
func (r *rows) Take(ctx context.Context, conn *mariadb.Conn, key, token string, lease time.Duration) (fence uint64, ok bool, err error) {
	if _, made := r.made.Load(key); !made {
		if _, _, err := r.change(ctx, conn, makeRow, []byte(key)); err != nil {
			return 0, false, err
		}
		r.made.Store(key, true)
	}
	found, id, err := r.change(ctx, conn, takeRow, []byte(token), lease.Microseconds(), []byte(key))
	return uint64(id), found > 0, err
}

// Extend implements [sessions.Table].
func (r *rows) Extend(ctx context.Context, conn *mariadb.Conn, key, token string, lease time.Duration) (bool, error) {
	found, _, err := r.change(ctx, conn, extendRow, lease.Microseconds(), []byte(key), []byte(token))
	return found > 0, err
}

// Free implements [sessions.Table].
func (r *rows) Free(ctx context.Context, conn *mariadb.Conn, key, token string) (bool, error) {
	found, _, err := r.change(ctx, conn, freeRow, []byte(key), []byte(token))
	return found > 0, err
}
