package workloads

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// slackAndTolerance is how much longer than granted, by the longest reading, a lease may
// keep others out: a second of slack and one of tolerance.
const slackAndTolerance = 2 * time.Second

// abandon lets the others come back when by the longest reading of the lease it is over.
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

// releaseAny releases what was granted, if anything was.
func (c *Client) releaseAny(ctx context.Context, lease lockbench.Lease) {
	if lease != nil {
		_ = c.Release(ctx, lease) // what the lock answered is in the record
	}
}

// tryLeftover is about what others make of a key that a first client left, by a fault.
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

// hoard has a client that was refused come back within the lease that another may
// have been granted at that time.
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

// restOver sleeps until a lease given now is over by its longest reading. Clients that begin
// it together end it together, and meet.
func (c *Client) restOver(ctx context.Context) {
	d := slackAndTolerance + 11*c.run.Lease/10
	if c.Driver == nil {
		c.work(ctx, d)
		return
	}
	c.Driver.Sleep(ctx, d)
}
