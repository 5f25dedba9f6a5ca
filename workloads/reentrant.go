package workloads

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// Reentrant is the method that locks and calls others that lock the same key: it
// goes down to a depth, gives the inner levels back early, and works on under
// the outer one alone. With a design that is not reentrant it goes on at the
// depth it reached.
func Reentrant() Workload {
	return Workload{
		Name:    "reentrant",
		Summary: "acquire to a depth, release the inner levels early, work on, release the last",
		Exercises: func(o Options) []lockbench.Cell {
			found := LockExercises(o)
			if o.Depth > 1 && o.contended() {
				found = append(found, lockbench.Reentrancy.At(0))
			}
			return found
		},
		Step: nest,
	}
}

func nest(ctx context.Context, c *Client) error {
	outer, err := c.Acquire(ctx)
	if outer == nil {
		return err
	}
	inner, err := c.descend(ctx)
	// The hold is worked off in equal parts: at the bottom, after each level
	// given back, the last under the outer level alone.
	left := c.choice.Hold
	part := left / time.Duration(len(inner)+1)
	for len(inner) > 0 {
		c.Work(ctx, part)
		left -= part
		last := len(inner) - 1
		if released := c.Release(ctx, inner[last]); err == nil {
			err = released
		}
		inner = inner[:last]
	}
	c.Hold(ctx, outer, left)
	if released := c.Release(ctx, outer); err == nil {
		err = released
	}
	return err
}

// descend acquires the inner levels, as far down as the design lets it.
func (c *Client) descend(ctx context.Context) ([]lockbench.Lease, error) {
	var inner []lockbench.Lease
	for len(inner) < c.run.Options.Depth-1 {
		lease, err := c.acquireNested(ctx)
		if lease == nil {
			return inner, err
		}
		inner = append(inner, lease)
	}
	return inner, nil
}
