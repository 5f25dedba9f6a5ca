package workloads

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench"
)

// An AtomicStore does a whole step of business in one request. It is safe for concurrent use.
type AtomicStore interface {
	// Change takes take from the value of a record if the value is above a bound, and otherwise
	// adds add. It returns the change of the value. The error wraps [lockbench.ErrNoEffect] when
	// the value has certainly not changed.
	Change(ctx context.Context, key string, above, take, add int64, version uint64) (change int64, err error)
	// Once sets the named mark, and reports whether it was not yet set.
	Once(ctx context.Context, mark string) (first bool, err error)
}

// Requests are one client's requests in place of locking. As a Locker they are recorded and
// measured like one: a grant is a completed step of business, on a key of the client's own,
// since nobody is locked out. Only one goroutine may use them.
type Requests struct {
	Store AtomicStore
	// Sent, when not nil, is called for each request.
	Sent func()

	next func(context.Context) (done bool, err error)
}

// Acquire implements [lockbench.Locker]: it makes the next request. It refuses if there was
// nothing to do.
func (r *Requests) Acquire(ctx context.Context, _ string, _ lockbench.Options) (lockbench.Lease, error) {
	if r.Sent != nil {
		r.Sent()
	}
	switch done, err := r.next(ctx); {
	case err != nil:
		return nil, err
	case !done:
		return nil, fmt.Errorf("%w: there is nothing to do", lockbench.ErrNotAcquired)
	}
	return nothing{}, nil
}

// nothing is the lease of a request.
type nothing struct{}

// Release implements [lockbench.Lease].
func (nothing) Release(context.Context) error { return nil }

// request makes one request, and reports whether it did something.
func (c *Client) request(ctx context.Context, next func(context.Context) (bool, error)) (done bool, err error) {
	c.Requests.next = next
	lease, err := c.try(ctx, "request", fmt.Sprintf("client-%04d", c.ID), lockbench.Options{TTL: c.asked.TTL})
	c.refused = lease == nil && err == nil
	if lease == nil {
		return false, err
	}
	return true, c.Release(ctx, lease)
}

// change changes the round's record in one request, and then works for as long as the holder of
// a lock would.
func (c *Client) change(ctx context.Context, above, take, add int64) error {
	done, err := c.request(ctx, func(ctx context.Context) (bool, error) {
		c.writes++
		change, err := c.Requests.Store.Change(ctx, c.keyAt(0), above, take, add, c.version())
		if err != nil {
			c.enter(-take, false, err)
			c.enter(add, false, err)
		} else {
			c.enter(change, true, nil)
		}
		return change != 0, err
	})
	if done {
		c.Counts.Done.Add(1)
		c.Hold(ctx, nothing{})
	}
	return err
}

// sellAtOnce is sell in one script.
func sellAtOnce(ctx context.Context, c *Client) error { return c.change(ctx, 0, 1, 0) }

// redeemAtOnce is redeem in one script.
func redeemAtOnce(ctx context.Context, c *Client) error {
	o := &c.run.Options
	return c.change(ctx, o.Threshold, o.Threshold, o.Points)
}

// runJobOnce is runJob for a server that marks the period first.
func runJobOnce(ctx context.Context, c *Client) error {
	if !c.awaitPeriod(ctx) {
		return nil
	}
	mark := fmt.Sprintf("%s:period-%d", c.keyAt(0), c.period-1)
	first, err := c.request(ctx, func(ctx context.Context) (bool, error) { return c.Requests.Store.Once(ctx, mark) })
	if !first {
		c.Counts.Skipped.Add(1)
		return err
	}
	ended := c.beginJob()
	done := c.Hold(ctx, nothing{})
	ended(done)
	if done {
		c.Counts.Done.Add(1)
	}
	return err
}
