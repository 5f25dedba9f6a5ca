package workloads

import (
	"cmp"
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// holdOnce is the bare lock. In virtual time others can come between even when a hold takes no
// time.
func holdOnce(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.Hold(ctx, lease)
	return c.Release(ctx, lease)
}

// releaseTwice releases again, as programs do that also release in a deferred call.
func releaseTwice(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.Hold(ctx, lease)
	return cmp.Or(c.Release(ctx, lease), c.Release(ctx, lease))
}

// releaseStale shows without any chance the effect of a release by a client that lost the lock:
// another client is inside for certain, and the first client comes back as the third owner.
func releaseStale(ctx context.Context, c *Client) error {
	work := 1.3
	if c.ID > 0 {
		work = 0.6
		c.rest(ctx, 1.1)
	}
	return c.holdFor(ctx, work)
}

// waitForFirst delays the others, so that they wait for a release, or for the end of the lease if
// none comes, without asking hundreds of times.
func waitForFirst(ctx context.Context, c *Client) error {
	work := 0.7
	if c.ID > 0 {
		work = 0
		c.rest(ctx, 0.6)
	}
	return c.holdFor(ctx, work)
}

// waitInVain lets the others come so early that their wait ends while the first client works.
func waitInVain(ctx context.Context, c *Client) error {
	work := 0.9
	if c.ID > 0 {
		work = 0
		c.rest(ctx, 0.1)
	}
	return c.holdFor(ctx, work)
}

// waitForRelease lets the others come while the first client works, and wait for longer than a
// waiter may sleep.
func waitForRelease(ctx context.Context, c *Client) error {
	work := 0.25
	if c.ID > 0 {
		work = 0
		c.rest(ctx, 0.1)
	}
	return c.holdFor(ctx, work)
}

// waitBothWays has two kinds of rounds, in turns. The last round, and every other round before it,
// is like waitForRelease, but the first client acquires the key again before a waiter that its
// release woke can do so. It tries once more when no wait that was given up can have left a lease.
// In the rounds between, the others' wait ends while the first client still works.
func waitBothWays(ctx context.Context, c *Client, rounds int) {
	long := c.asked.Wait
	brief := min(long, max(c.run.Lease/2, time.Second)) // some designs round less than a second down to no wait
	for left := rounds; left > 0; left-- {
		again := left%2 == 1
		c.asked.Wait = brief
		if again {
			c.asked.Wait = long
		}
		switch {
		case c.ID > 0:
			c.rest(ctx, 0.1)
			_ = c.holdFor(ctx, 0) // the record has the lock's answers
		case again:
			_ = c.holdFor(ctx, 0.25)
			_ = c.holdFor(ctx, 0.9)
			c.rest(ctx, 0.65)
			c.asked.Wait = 0
			_ = c.holdFor(ctx, 0)
		default:
			_ = c.holdFor(ctx, 0.7)
		}
	}
	c.asked.Wait = long
}

// workRenewed lets the others come twice while the first client works: so late that a lock that
// renewed only once is free, and so late that a lock that renewed only four times is free.
func workRenewed(ctx context.Context, c *Client) error {
	if c.first() {
		return c.holdFor(ctx, 3)
	}
	c.rest(ctx, 2.1)
	early := c.holdFor(ctx, 0)
	c.rest(ctx, 0.7)
	return cmp.Or(early, c.holdFor(ctx, 0))
}

// workRenewedTwice is workRenewed with two keys. The first client releases one of them early, and
// keeps the other for longer: in turns the key that it acquired second, and the key that it
// acquired first.
func workRenewedTwice(ctx context.Context, c *Client, rounds int) {
	for round := range rounds {
		kept := 1 - round%2
		if !c.first() {
			c.rest(ctx, 2.1)
			c.take(ctx, kept)
			c.rest(ctx, 0.7)
			c.take(ctx, kept)
			continue
		}
		var held [2]lockbench.Lease
		for n := range held {
			held[n], _ = c.acquire(ctx, n) // the record has the lock's answers
			c.work(ctx, 1)
		}
		c.rest(ctx, 0.5)
		c.releaseAny(ctx, held[1-kept])
		c.rest(ctx, 2.5)
		c.releaseAny(ctx, held[kept])
	}
}

// take acquires the n-th key, and releases it at once.
func (c *Client) take(ctx context.Context, n int) {
	lease, _ := c.acquire(ctx, n)
	c.releaseAny(ctx, lease)
}

// holdFor holds the key for a time in leases.
func (c *Client) holdFor(ctx context.Context, leases float64) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		return err
	}
	c.rest(ctx, leases)
	return c.Release(ctx, lease)
}

// extendLate lets a refused client come back after the original end of the lease, and again after
// its extended end.
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

// extendThrice shows a lease that grows by each extend: after the third, its end is later than even
// the longest permitted lease.
func extendThrice(ctx context.Context, c *Client, rounds int) {
	for round := range rounds {
		if c.ID > 0 {
			c.rest(ctx, 1.2)
			c.take(ctx, 0)
			c.rest(ctx, 0.3)
			continue
		}
		lease, _ := c.Acquire(ctx) // the record has the lock's answers
		for range 3 {
			c.rest(ctx, 0.3)
			if lease != nil {
				_, _ = c.Extend(ctx, lease, c.asked.TTL)
			}
		}
		c.rest(ctx, 0.4)
		if round+1 < rounds {
			c.releaseAny(ctx, lease)
			c.rest(ctx, 0.2)
		}
	}
	if c.ID > 0 {
		c.work(ctx, slackAndTolerance)
		c.rest(ctx, 0.6)
		c.take(ctx, 0)
	}
}

// releaseDelayed lets a refused client come back while the delay may last.
func releaseDelayed(ctx context.Context, c *Client) error {
	lease, err := c.Acquire(ctx)
	if lease == nil {
		c.rest(ctx, 0.3)
		return err
	}
	return c.ReleaseAfter(ctx, lease, c.asked.TTL/2)
}

// takeTwo takes the two keys in opposite orders, so that clients can wait for each other.
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
