package workloads

import (
	"cmp"
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// nestToDepth is a method that locks a key and calls others that lock it again: it
// nests to the depth, gives the inner levels back early, and works on under the
// outer level alone. With a design that is not reentrant it goes on at the depth it
// reached.
func nestToDepth(ctx context.Context, c *Client) error {
	outer, err := c.Acquire(ctx)
	if outer == nil {
		return err
	}
	inner, err := c.descend(ctx)
	// The hold is divided into equal parts: one at the bottom, one after each level
	// given back, the last under the outer level alone.
	left := c.choice.Hold
	part := left / time.Duration(len(inner)+1)
	for len(inner) > 0 {
		c.work(ctx, part)
		left -= part
		last := len(inner) - 1
		err = cmp.Or(err, c.Release(ctx, inner[last]))
		inner = inner[:last]
	}
	c.hold(ctx, outer, left)
	return cmp.Or(err, c.Release(ctx, outer))
}

// descend acquires the inner levels, as deep as the design allows.
func (c *Client) descend(ctx context.Context) ([]lockbench.Lease, error) {
	var inner []lockbench.Lease
	for len(inner) < c.run.Options.Depth-1 {
		lease, err := c.acquireAgain(ctx)
		if lease == nil {
			return inner, err
		}
		inner = append(inner, lease)
	}
	return inner, nil
}

// nestAndWork works on after the inner release for longer than a short inner lease.
func nestAndWork(ctx context.Context, c *Client) error {
	outer, err := c.Acquire(ctx)
	if outer == nil {
		c.rest(ctx, 0.6)
		return err
	}
	inner, err := c.acquireAgain(ctx)
	if inner != nil {
		err = c.Release(ctx, inner)
	}
	c.rest(ctx, 0.7)
	return cmp.Or(err, c.Release(ctx, outer))
}
