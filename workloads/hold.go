package workloads

import (
	"cmp"
	"context"
	"time"
)

// holdOnce is the bare lock. In virtual time a hold needs to take none for others to come
// between.
func holdOnce(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.Hold(ctx, lease)
	return c.Release(ctx, lease)
}

// releaseTwice has what owners do who release in a deferred call, too.
func releaseTwice(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.Hold(ctx, lease)
	return cmp.Or(c.Release(ctx, lease), c.Release(ctx, lease))
}

// releaseStale needs no chance to show what a release by somebody who lost the
// lock does: the others are inside for certain, and the first client is the third
// that their lock may be given to.
func releaseStale(ctx context.Context, c *Client) error {
	work := 1.3
	if c.ID > 0 {
		work = 0.6
		c.rest(ctx, 1.1)
	}
	return c.holdFor(ctx, work)
}

// waitForFirst has the others come late, so that they wait for a release, or for the end of
// the lease if none comes, without asking hundreds of times.
func waitForFirst(ctx context.Context, c *Client) error {
	work := 0.7
	if c.ID > 0 {
		work = 0
		c.rest(ctx, 0.6)
	}
	return c.holdFor(ctx, work)
}

// waitInVain has the others come so early that their wait ends while the first client works.
func waitInVain(ctx context.Context, c *Client) error {
	work := 0.9
	if c.ID > 0 {
		work = 0
		c.rest(ctx, 0.1)
	}
	return c.holdFor(ctx, work)
}

// waitForRelease has the others come while the first client works, and wait for longer than a waiter may sleep.
func waitForRelease(ctx context.Context, c *Client) error {
	work := 0.25
	if c.ID > 0 {
		work = 0
		c.rest(ctx, 0.1)
	}
	return c.holdFor(ctx, work)
}

// waitBothWays is waitForRelease in the last round, and in every other one before it. In the rounds between the others' wait
// ends while the first client still works.
func waitBothWays(ctx context.Context, c *Client, rounds int) {
	long := c.asked.Wait
	for left := rounds; left > 0; left-- {
		work := 0.25
		c.asked.Wait = long
		if left%2 == 0 {
			work = 0.7
			c.asked.Wait = min(long, max(c.run.Lease/2, time.Second)) // some designs take less than a second for none
		}
		if c.ID > 0 {
			work = 0
			c.rest(ctx, 0.1)
		}
		_ = c.holdFor(ctx, work) // what the lock answered is in the record
	}
	c.asked.Wait = long
}

// workRenewed has the others come when one renewal would no longer do, and when four would not.
func workRenewed(ctx context.Context, c *Client) error {
	if c.ID == 0 {
		return c.holdFor(ctx, 3)
	}
	c.rest(ctx, 2.1)
	early := c.holdFor(ctx, 0)
	c.rest(ctx, 0.7)
	return cmp.Or(early, c.holdFor(ctx, 0))
}

// holdFor holds the key for so many leases.
func (c *Client) holdFor(ctx context.Context, leases float64) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.rest(ctx, leases)
	return c.Release(ctx, lease)
}

// extendLate has a client that was refused come back when the lease would be over
// without the first extend, and again when it is over with it.
func extendLate(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		c.rest(ctx, 1.1)
		return err
	}
	c.rest(ctx, 0.5)
	_, inTime := c.Extend(ctx, lease, c.asked.TTL)
	c.rest(ctx, 0.75)
	c.step("work")
	c.rest(ctx, 1.25)
	_, late := c.Extend(ctx, lease, c.asked.TTL)
	return cmp.Or(inTime, late, c.Release(ctx, lease))
}

// releaseDelayed has a client that was refused come back while the delay may last.
func releaseDelayed(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		c.rest(ctx, 0.3)
		return err
	}
	return c.ReleaseAfter(ctx, lease, c.asked.TTL/2)
}

// takeTwo is how clients come to wait for each other.
func takeTwo(ctx context.Context, c *Client) error {
	first := c.ID % 2
	outer, err := c.acquire(ctx, first)
	if outer == nil {
		return err
	}
	inner, err := c.acquire(ctx, 1-first)
	if inner != nil {
		err = c.Release(ctx, inner)
	}
	return cmp.Or(err, c.Release(ctx, outer))
}
