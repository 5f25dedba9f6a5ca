package history

import (
	"context"

	"github.com/lockbench/lockbench"
)

// Store returns inner, recorded: each read and write enters the history as made
// under the hold that the client has open on the key. It is a lockbench.GuardedStore
// where inner is. Unlike inner it is not safe for concurrent use.
func (c *Client) Store(inner lockbench.Store) lockbench.Store {
	if guarded, ok := inner.(lockbench.GuardedStore); ok {
		return guardedStore{store{c, inner}, guarded}
	}
	return store{c, inner}
}

type store struct {
	client *Client
	inner  lockbench.Store
}

func (s store) Read(ctx context.Context, key string) (lockbench.Record, error) {
	op := s.reading(key, 0)
	r, err := s.inner.Read(ctx, key)
	s.client.accessed(op, r, err)
	return r, err
}

func (s store) Write(ctx context.Context, key string, r lockbench.Record) error {
	op := s.writing(key, r, 0)
	err := s.inner.Write(ctx, key, r)
	s.client.accessed(op, r, err)
	return err
}

// guardedStore records the fences that its store is shown.
type guardedStore struct {
	store
	guarded lockbench.GuardedStore
}

func (s guardedStore) ReadGuarded(ctx context.Context, key string, fence uint64) (lockbench.Record, error) {
	op := s.reading(key, fence)
	r, err := s.guarded.ReadGuarded(ctx, key, fence)
	s.client.accessed(op, r, err)
	return r, err
}

func (s guardedStore) WriteGuarded(ctx context.Context, key string, r lockbench.Record, by lockbench.Standing) error {
	op := s.writing(key, r, by.Fence)
	err := s.guarded.WriteGuarded(ctx, key, r, by)
	s.client.accessed(op, r, err)
	return err
}

func (s store) reading(key string, fence uint64) *Op {
	op := s.client.begin(Read, key)
	op.Fence = fence
	s.client.called(op)
	return op
}

func (s store) writing(key string, r lockbench.Record, fence uint64) *Op {
	op := s.client.begin(Write, key)
	op.Value, op.Version, op.Fence = r.Value, r.Version, fence
	s.client.called(op)
	return op
}

func (c *Client) accessed(op *Op, r lockbench.Record, err error) {
	at, v := c.now(), judge(err, c.notes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.returned(op, at, v) {
		return
	}
	if v.outcome == OK {
		op.Value, op.Version = r.Value, r.Version
	}
	c.settle(op)
}
