package workloads

import (
	"cmp"
	"context"

	"github.com/lockbench/lockbench"
)

// sell is the flash sale of the untitled notes on overselling (docs/designs.md has all
// sources): many buyers, a stock of N units per key that is read, decided on and written
// back under the lock. Two buyers inside at once sell the same unit twice.
func sell(ctx context.Context, c *Client) error {
	return c.guarded(ctx, func(stock int64) (int64, bool) { return stock - 1, stock > 0 })
}

// redeem is the exchange of points from the same notes: each user sends two requests at
// once, and only one of them may spend the same points. Clients 2k and 2k+1 are the two
// requests of a user. A user with too few points earns new ones, so that a run of any
// length has points to exchange.
func redeem(ctx context.Context, c *Client) error {
	o := &c.run.Options
	return c.guarded(ctx, func(points int64) (int64, bool) {
		if points > o.Threshold {
			return points - o.Threshold, true
		}
		return points + o.Points, true
	})
}

// addOne increments the record, so that a lost update shows in the final value.
func addOne(ctx context.Context, c *Client) error {
	return c.guarded(ctx, func(value int64) (int64, bool) { return value + 1, true })
}

// guarded makes one business transaction under the lock. decide gets the value read and
// returns the one to write, or false to leave it. The work lies between the read and the
// write, so that a second client inside reads a value that is about to be replaced, and a
// slow client writes late.
func (c *Client) guarded(ctx context.Context, decide func(int64) (int64, bool)) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	err = c.transact(ctx, lease, decide)
	return cmp.Or(err, c.Release(ctx, lease))
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
	if !c.Hold(ctx, lease) {
		return nil
	}
	if ok, err = c.Write(ctx, lease, rec, value); ok {
		c.Counts.Done.Add(1)
	}
	return err
}

// overrun makes every client outlive its lease. Even in a schedule without faults, the next
// owner is inside when the one before it writes, releases and tries again.
func overrun(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		c.rest(ctx, 1.1)
		return err
	}
	rec, ok, err := c.Read(ctx, lease)
	c.rest(ctx, 1.5)
	if ok {
		_, err = c.Write(ctx, lease, rec, rec.Value+1)
	}
	return cmp.Or(err, c.Release(ctx, lease))
}
