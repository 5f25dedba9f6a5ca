package workloads

import (
	"context"
	"time"
)

// oddLeases are leases that locks get wrong which count in whole milliseconds or seconds: what is over is cut
// off, and of less than one nothing is left. The rest of a deadline, passed on as a lease, is of the kind.
var oddLeases = [...]time.Duration{2900 * time.Microsecond, 1500 * time.Microsecond, 900 * time.Microsecond, 1500 * time.Millisecond}

// leaseOddly has the first client work for nearly all of each of them, while the others come shortly before its end. Where
// leases can be extended it extends its lease by as much, when half of it is over, and the others come before the end of
// that, too. A lock that grants no lease as short may fail.
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

// workThroughLease takes two leases' time.
func (c *Client) workThroughLease(ctx context.Context) {
	lease, _ := c.Acquire(ctx) // what the lock answered is in the record
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

// comeBeforeItsEnd comes before the end of a lease granted now, and of one extended when half of it is over. It takes as long.
func (c *Client) comeBeforeItsEnd(ctx context.Context) {
	for _, rest := range []float64{0.95, 0.5} {
		c.part(ctx, rest)
		lease, _ := c.Acquire(ctx)
		c.releaseAny(ctx, lease)
	}
	c.part(ctx, 0.55)
}

// part takes a part of the lease that is asked for, and no two clients exactly the same.
func (c *Client) part(ctx context.Context, of float64) {
	d := time.Duration(of*float64(c.asked.TTL)) + time.Duration(1+c.ID)*time.Microsecond
	if c.Driver == nil {
		c.work(ctx, d)
		return
	}
	c.Driver.Sleep(ctx, d)
}
