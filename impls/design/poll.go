package design

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// Poll calls try until it grants or fails, and sleeps for pause() between tries,
// for as long as wait allows. Zero wait is one try; a longer one ends with a last
// try when it is over, since the last sleep is cut to what is left.
//
// It returns nil when try granted, the error of try as it is,
// [lockbench.ErrNotAcquired] when wait is over, and [lockbench.ErrNoEffect]
// together with the context's error when ctx ended between two tries: those
// made had been refused. It holds nothing while it sleeps.
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
		_ = Sleep(ctx, min(pause(), left)) // cut short by ctx, which is looked at next
	}
	return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, ctx.Err())
}

// Every is a fixed pause, for [Poll].
func Every(d time.Duration) func() time.Duration {
	return func() time.Duration { return d }
}
