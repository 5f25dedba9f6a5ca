package redsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/hashicorp/go-multierror"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// retryEvery is the pause between two tries. The library's own is random, 50 to 250 ms.
const retryEvery = 10 * time.Millisecond

// owner is one client of the library.
type owner struct {
	*process
	seen design.Observer
}

// Acquire implements lockbench.Locker.
func (o *owner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	mutex := o.redsync.NewMutex(o.env.Prefix+key, redsync.WithExpiry(opt.TTL))
	err := design.Poll(ctx, opt.Wait, design.Every(retryEvery), func() (bool, error) {
		o.seen.Attempt(key)
		err := o.refusal(mutex.TryLockContext(ctx))
		if errors.Is(err, lockbench.ErrNotAcquired) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return &lease{o, mutex, opt.TTL}, nil
}

// refusal interprets the error of a try: others hold the lock if at least one server
// has it for another value, and no answer is missing.
func (o *owner) refusal(err error) error {
	n := count(err)
	switch {
	case err == nil:
		return nil
	case n.open == 0 && n.others > 0:
		return fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	case n.unreached == len(o.clients):
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	case err == redsync.ErrFailed: // the error itself, without causes: every server answered, and none objected
		return fmt.Errorf("the answers took as long as the lease (%w): %w", context.DeadlineExceeded, err)
	}
	return err
}

type lease struct {
	*owner
	mutex *redsync.Mutex
	ttl   time.Duration
}

// Release implements lockbench.Lease.
func (l *lease) Release(ctx context.Context) error {
	_, err := l.mutex.UnlockContext(ctx)
	return l.loss(err)
}

// Extend implements lockbench.Extender.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	redsync.WithExpiry(ttl).Apply(l.mutex)
	ok, err := l.mutex.ExtendContext(ctx)
	if err != nil || !ok {
		return l.loss(err)
	}
	l.ttl = ttl
	return nil
}

// Valid implements lockbench.Validator. It derives both from the library's result: the
// start of the attempt plus the guaranteed time.
func (l *lease) Valid() (from time.Time, length time.Duration) {
	length = granted(l.ttl)
	return l.mutex.Until().Add(-length), length
}

// loss interprets the error of a release or extend: the lock was lost if the servers that may still
// have it are not a majority.
func (l *lease) loss(err error) error {
	n := count(err)
	switch servers := len(l.clients); {
	case err == nil:
		return nil
	case n.others+n.gone > servers-(servers/2+1):
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	case n.unreached == servers:
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err
}

// answers counts servers by their failure to run the command.
type answers struct {
	others    int // the key has another value
	gone      int // the key is gone
	unreached int // certainly did not run the command
	open      int // may have run it
}

func count(err error) (n answers) {
	var taken *redsync.ErrTaken
	var several *multierror.Error
	switch {
	case err == nil:
		return n
	case errors.As(err, &taken): // a majority; the rest is unknown
		return answers{others: len(taken.Nodes)}
	case !errors.As(err, &several):
		return answers{open: 1}
	}
	for _, part := range several.Errors {
		var node *redsync.ErrNodeTaken
		switch {
		case errors.As(part, &node):
			n.others++
		case errors.Is(part, redsync.ErrLockAlreadyExpired):
			n.gone++
		case errors.Is(onredis.NoEffect(part), lockbench.ErrNoEffect):
			n.unreached++
		default:
			n.open++
		}
	}
	return n
}
