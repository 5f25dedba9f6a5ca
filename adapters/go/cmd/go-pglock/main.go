// Command go-pglock is the lock of package github.com/allisson/go-pglock: an advisory lock of PostgreSQL,
// held by the session of a connection that is taken from a pool. The lock has no lease: it ends with its
// session. Close gives the connection back to the pool, whether it holds the lock still or not.
package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/allisson/go-pglock/v3"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/lockbench/lockbench/adapters/go/kit"
)

type lock struct{ *sql.DB }

func open(url, _ string) (kit.Lock, error) {
	db, err := sql.Open("pgx", url)
	return lock{db}, err
}

func (l lock) Acquire(ctx context.Context, key string, _ time.Duration) (kit.Hold, error) {
	name := sha256.Sum256([]byte(key))
	h, err := pglock.NewLock(ctx, int64(binary.LittleEndian.Uint64(name[:])), l.DB)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kit.ErrNoEffect, err)
	}
	got, err := h.Lock(ctx)
	if err == nil && got {
		return hold{h}, nil
	}
	_ = h.Close()
	if err == nil {
		err = kit.ErrRefused
	}
	return nil, err
}

type hold struct{ pglock.Lock }

func (h hold) Release(ctx context.Context) error {
	defer h.Close()
	return h.Unlock(ctx)
}

func main() {
	tells := false // Unlock does not say whether the session held the lock
	const module = "github.com/allisson/go-pglock/v3"
	const ends = "a session ends with its connection, while its owner works on"
	kit.Serve(kit.Hello{
		Name: "go-pglock/lock", Library: module, Version: kit.Version(module), Service: "postgres", Owners: 64,
		Leaseless: true, ReleaseTells: &tells, Can: []string{"cancel"},
		Claims: []string{"-exclusion@lost-reply: " + ends, "-effects@lost-reply: " + ends},
	}, open)
}
