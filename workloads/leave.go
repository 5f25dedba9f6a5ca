package workloads

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// slackAndTolerance is how long a lease may keep others out beyond the granted time at most: a
// second of slack and one of tolerance.
const slackAndTolerance = 2 * time.Second

// abandon lets the others come back when even the longest permitted lease is over.
func abandon(ctx context.Context, c *Client, rounds int) {
	lease, _ := c.Acquire(ctx)
	if c.ID == 0 {
		return
	}
	for range rounds {
		c.releaseAny(ctx, lease)
		c.rest(ctx, 1.5)
		c.work(ctx, slackAndTolerance+time.Second)
		lease, _ = c.Acquire(ctx)
	}
	c.releaseAny(ctx, lease)
}

// succeed lets the last client succeed the first, which dies with the key. A successor that is
// granted its predecessor's key works until the predecessor's lease is over, but not its own. The
// others come while it works, and after its release.
func succeed(ctx context.Context, c *Client, rounds int) {
	switch c.ID {
	case 0:
		_, _ = c.Acquire(ctx) // the record has the lock's answers
		c.rest(ctx, 0.2)
		c.Driver.Die()
	case c.run.Options.Clients - 1:
		for range rounds {
			c.rest(ctx, 0.6)
			_ = c.holdFor(ctx, 0.6)
		}
	default:
		for range rounds {
			c.rest(ctx, 0.6)
			c.take(ctx, 0)
		}
		c.rest(ctx, 0.45)
		c.take(ctx, 0)
	}
}

// releaseAny releases lease unless it is nil.
func (c *Client) releaseAny(ctx context.Context, lease lockbench.Lease) {
	if lease != nil {
		_ = c.Release(ctx, lease) // the record has the lock's answer
	}
}

// tryLeftover shows how others treat a key that a fault of the first client left behind.
func tryLeftover(ctx context.Context, c *Client, rounds int) {
	if c.ID == 0 {
		_, _ = c.Acquire(ctx)
		return
	}
	c.restOver(ctx)
	for range rounds {
		lease, _ := c.Acquire(ctx)
		c.releaseAny(ctx, lease)
		c.rest(ctx, 0.2)
	}
}

// hoard lets a refused client come back within the lease that another may have been granted
// at that time.
func hoard(ctx context.Context, c *Client, rounds int) {
	if c.ID == 0 {
		_, _ = c.Acquire(ctx)
		return
	}
	c.restOver(ctx)
	for range rounds {
		if lease, _ := c.Acquire(ctx); lease != nil {
			c.restOver(ctx)
		} else {
			c.rest(ctx, 0.6)
		}
	}
}

// restOver sleeps until even the longest permitted lease from now on is over. Clients that
// begin it together end it together, and meet.
func (c *Client) restOver(ctx context.Context) {
	d := slackAndTolerance + 11*c.run.Lease/10
	if c.Driver == nil {
		c.work(ctx, d)
		return
	}
	c.Driver.Sleep(ctx, d)
}
