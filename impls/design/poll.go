package design

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// Poll calls try until it grants or fails, for at most wait, and sleeps for pause() between tries.
// If wait is zero it tries once. Otherwise it tries a last time when wait is over.
//
// It returns nil if try granted, and the error of try unchanged. It returns
// [lockbench.ErrNotAcquired] if wait is over, and [lockbench.ErrNoEffect] together with the error
// of ctx if ctx ended between two tries, since all tries were refused. It holds no resource while
// it sleeps.
func Poll(ctx context.Context, wait time.Duration, pause func() time.Duration, try func() (granted bool, err error)) error {
	var until time.Time
	if wait > 0 { // a single try needs no clock
		until = time.Now().Add(wait)
	}
	for ctx.Err() == nil {
		if granted, err := try(); granted || err != nil {
			return err
		}
		left := time.Duration(0)
		if wait > 0 {
			left = time.Until(until)
		}
		if left <= 0 {
			return lockbench.ErrNotAcquired
		}
		_ = Sleep(ctx, min(pause(), left)) // ctx may cut it short, and is checked next
	}
	return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, ctx.Err())
}

// Every returns a function for [Poll] that always returns d.
func Every(d time.Duration) func() time.Duration {
	return func() time.Duration { return d }
}
