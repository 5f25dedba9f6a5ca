package workloads

import (
	"context"

	"github.com/lockbench/lockbench"
)

// Oversell is the flash sale (D0): many buyers, a stock of N units per key that
// is read, decided on and written back under the lock. Two buyers inside at once
// sell the same unit twice.
func Oversell() Workload {
	return Workload{
		Name:      "oversell",
		Summary:   "sell one unit of the key's stock: read, work, write one less; stop at none",
		Exercises: StoreExercises,
		Prepare: func(ctx context.Context, store lockbench.Store, o Options) error {
			return PrepareEach(ctx, store, o.Keys, o.Stock)
		},
		Step: sell,
	}
}

func sell(ctx context.Context, c *Client) error {
	return c.guarded(ctx, func(stock int64) (int64, bool) {
		return stock - 1, stock > 0
	})
}

// guarded makes one business transaction under the lock. decide gets the value
// read and returns the one to write, or false to leave it. The work lies between
// the read and the write, so that a second client inside reads what this one is
// about to replace, and a slow one writes late.
func (c *Client) guarded(ctx context.Context, decide func(int64) (int64, bool)) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	err = c.transact(ctx, lease, decide)
	if released := c.Release(ctx, lease); err == nil {
		err = released
	}
	return err
}

func (c *Client) transact(ctx context.Context, lease lockbench.Lease, decide func(int64) (int64, bool)) error {
	rec, ok, err := c.Read(ctx, lease)
	if !ok {
		return err
	}
	value, ok := decide(rec.Value)
	if !ok {
		c.Counts.Skipped.Add(1)
		return nil
	}
	if !c.Hold(ctx, lease, c.choice.Hold) {
		return nil
	}
	if ok, err = c.Write(ctx, lease, rec, value); ok {
		c.Counts.Done.Add(1)
	}
	return err
}
