package main

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// eagerPause is the pause between two tries of an eager owner: short beside any lease, so
// that it is there when the lock is free by mistake.
const eagerPause = 7 * time.Millisecond

// eager returns d with owners that wait by trying every eagerPause.
func eager(d design.Design) design.Design {
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		if err != nil {
			return nil, err
		}
		return eagerProcess{p}, nil
	}
	return d
}

type eagerProcess struct{ design.Process }

func (p eagerProcess) Locker(o design.Observer) lockbench.Locker {
	return eagerOwner{p.Process.Locker(o)}
}

type eagerOwner struct{ lockbench.Locker }

// Acquire implements lockbench.Locker.
func (o eagerOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lease lockbench.Lease, err error) {
	wait := opt.Wait
	opt.Wait = 0
	err = design.Poll(ctx, wait, design.Every(eagerPause), func() (bool, error) {
		lease, err = o.Locker.Acquire(ctx, key, opt)
		if errors.Is(err, lockbench.ErrNotAcquired) {
			return false, nil
		}
		return err == nil, err
	})
	return lease, err
}
