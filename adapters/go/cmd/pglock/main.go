// Command pglock is the lock of package cirello.io/pglock: a row of a table of PostgreSQL, with a number
// that the owner's heartbeats change. Who waits takes the lock over after the number was the same for a
// whole lease, so a single attempt never does. The table is in a schema of the run.
package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"cirello.io/pglock"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/lockbench/lockbench/adapters/go/kit"
)

type lock struct {
	db    *sql.DB
	table string

	mu      sync.Mutex
	clients map[time.Duration]*pglock.Client // by lease
}

func open(url, prefix string) (kit.Lock, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, err
	}
	schema := pgx.Identifier{prefix + "pglock"}.Sanitize()
	l := &lock{db: db, table: schema + ".locks", clients: map[time.Duration]*pglock.Client{}}
	for range 20 { // other processes make them, too
		if _, err = db.Exec("create schema if not exists " + schema); err != nil {
			continue
		}
		var c *pglock.Client
		if c, err = l.client(time.Minute); err == nil {
			err = c.TryCreateTable()
		}
		if err == nil {
			return l, nil
		}
	}
	return nil, err
}

func (l *lock) client(ttl time.Duration) (c *pglock.Client, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.clients[ttl]; c == nil {
		c, err = pglock.UnsafeNew(l.db, pglock.WithCustomTable(l.table), pglock.WithLeaseDuration(ttl), pglock.WithHeartbeatFrequency(ttl/3))
		l.clients[ttl] = c
	}
	return c, err
}

func (l *lock) acquire(ctx context.Context, key string, ttl time.Duration, more ...pglock.LockOption) (kit.Hold, error) {
	c, err := l.client(ttl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kit.ErrNoEffect, err)
	}
	name := sha256.Sum256([]byte(key)) // a name has at most 255 characters
	// Heartbeats would end with the context.
	h, err := c.AcquireContext(ctx, hex.EncodeToString(name[:]), append(more, pglock.WithCustomHeartbeatContext(context.Background()))...)
	if errors.Is(err, pglock.ErrNotAcquired) {
		return nil, kit.ErrRefused
	}
	return hold{c, h}, err
}

func (l *lock) Acquire(ctx context.Context, key string, ttl time.Duration) (kit.Hold, error) {
	return l.acquire(ctx, key, ttl, pglock.FailIfLocked())
}

func (l *lock) AcquireWithin(ctx context.Context, key string, ttl, wait time.Duration) (kit.Hold, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return l.acquire(ctx, key, ttl)
}

type hold struct {
	client *pglock.Client
	lock   *pglock.Lock
}

func (h hold) Release(ctx context.Context) error {
	err := h.client.ReleaseContext(ctx, h.lock)
	if errors.Is(err, pglock.ErrLockAlreadyReleased) {
		err = fmt.Errorf("%w: %w", kit.ErrNotHeld, err)
	}
	return err
}

func main() {
	const module = "cirello.io/pglock"
	kit.Serve(kit.Hello{
		Name: "pglock/lock", Library: module, Version: kit.Version(module), Service: "postgres", Owners: 64,
		Renews: "unseen", Can: []string{"wait"},
	}, open)
}
