package control

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// openFree returns a process of either control. It grants every key, and so needs no connections.
func openFree(design.Environment) (design.Process, error) {
	locker := func(o design.Observer) lockbench.Locker { return open{o} }
	return design.NewProcess(locker, func() error { return nil }), nil
}

// An open grants every key to every caller.
type open struct{ observer design.Observer }

// Acquire implements [lockbench.Locker]. It fails only if ctx has ended.
func (l open) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	from := l.observer.Attempt(key)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &lease{design.Validity{From: from, Granted: opt.TTL}}, nil
}

// A lease excludes no one.
type lease struct{ design.Validity }

// Release implements [lockbench.Lease].
func (*lease) Release(context.Context) error { return nil }

// Extend implements [lockbench.Extender].
func (*lease) Extend(context.Context, time.Duration) error { return nil }

// ReleaseAfter implements [lockbench.DelayedReleaser].
func (*lease) ReleaseAfter(context.Context, time.Duration) error { return nil }
