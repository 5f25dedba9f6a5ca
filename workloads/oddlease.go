package workloads

import (
	"context"
	"time"
)

// oddLeases are leases that break locks which count in whole milliseconds or seconds: they drop the
// fraction, and a lease below one unit becomes zero. The rest of a deadline, passed on as a lease,
// is such a lease.
var oddLeases = [...]time.Duration{2900 * time.Microsecond, 1500 * time.Microsecond, 900 * time.Microsecond, 1500 * time.Millisecond}

// leaseOddly makes the first client work for nearly all of each odd lease, while the others come
// shortly before its end. If leases can be extended, the first client extends its lease by as much
// when half of it is over, and the others come before the end of the extension, too. A lock that
// grants no lease as short may fail.
func leaseOddly(ctx context.Context, c *Client, rounds int) {
	asked := c.asked
	for range rounds {
		for _, c.asked.TTL = range oddLeases {
			if c.ID == 0 {
				c.workThroughLease(ctx)
			} else {
				c.comeBeforeItsEnd(ctx)
			}
		}
	}
	c.asked = asked
}

// workThroughLease takes as long as two leases.
func (c *Client) workThroughLease(ctx context.Context) {
	lease, _ := c.Acquire(ctx) // the record has the lock's answer
	c.part(ctx, 0.5)
	work := 0.49
	if lease != nil {
		if extended, _ := c.Extend(ctx, lease, c.asked.TTL); extended {
			work = 0.99
		}
	}
	c.part(ctx, work)
	c.releaseAny(ctx, lease)
	c.part(ctx, 1.5-work)
}

// comeBeforeItsEnd tries before the end of a lease granted now, and before the end of a lease that
// is granted now and extended at half its length. It takes as long as two leases.
func (c *Client) comeBeforeItsEnd(ctx context.Context) {
	for _, rest := range []float64{0.95, 0.5} {
		c.part(ctx, rest)
		lease, _ := c.Acquire(ctx)
		c.releaseAny(ctx, lease)
	}
	c.part(ctx, 0.55)
}

// part takes a part of the requested lease, which differs slightly from client to client.
func (c *Client) part(ctx context.Context, of float64) {
	d := time.Duration(of*float64(c.asked.TTL)) + time.Duration(1+c.ID)*time.Microsecond
	if c.Driver == nil {
		c.work(ctx, d)
		return
	}
	c.Driver.Sleep(ctx, d)
}
