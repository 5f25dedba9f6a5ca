package history

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
)

// errNoAbility answers a call that [lockbench.Ability] would have kept back.
var errNoAbility = errors.New("the lease cannot do this; hint: look for the ability with lockbench.Ability")

// lease records what is done with one grant. It implements every ability and
// passes each on to the lease within.
type lease struct {
	client *Client
	inner  lockbench.Lease
	key    string
	hold   int64
	watch  *watch // nil unless the lease within is a Watcher
}

func (c *Client) wrap(inner lockbench.Lease, key string, hold int64) *lease {
	l := &lease{client: c, inner: inner, key: key, hold: hold}
	if w, ok := lockbench.Ability[lockbench.Watcher](inner); ok {
		l.watch = newWatch(l, w.Lost())
	}
	return l
}

// Unwrap lets lockbench.Ability see what the lease within can do.
func (l *lease) Unwrap() lockbench.Lease { return l.inner }

func (l *lease) Release(ctx context.Context) error {
	op := l.releasing(0)
	err := l.inner.Release(ctx)
	l.released(op, err)
	return err
}

func (l *lease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.DelayedReleaser](l.inner)
	if !ok {
		return errNoAbility
	}
	op := l.releasing(d)
	err := inner.ReleaseAfter(ctx, d)
	l.released(op, err)
	return err
}

// releasing ends the watch before the release is sent, for a lock may close its
// Lost channel when it is released, and that is no loss.
func (l *lease) releasing(delay time.Duration) *Op {
	l.watch.end()
	op := l.client.begin(Release, l.key)
	op.Hold, op.Delay = l.hold, int64(delay)
	l.client.called(op)
	return op
}

func (l *lease) released(op *Op, err error) {
	if l.client.done(op, err) == Failed {
		l.watch.start()
	}
}

// done records the end of an operation that brings no result but its error.
func (c *Client) done(op *Op, err error) Outcome {
	at, v := c.now(), judge(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.returned(op, at, v) {
		c.settle(op)
	}
	return v.outcome
}

func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.Extender](l.inner)
	if !ok {
		return errNoAbility
	}
	op := l.client.begin(Extend, l.key)
	op.Hold, op.Asked = l.hold, int64(ttl)
	l.client.called(op)
	err := inner.Extend(ctx, ttl)
	l.client.extended(op, err, l.inner)
	return err
}

// extended records the end of an extend. A lease whose Valid was not renewed by
// it tells of the acquire still, and is not believed.
func (c *Client) extended(op *Op, err error, inner lockbench.Lease) {
	at, v := c.now(), judge(err)
	var told validity
	if v.outcome == OK {
		told = c.validity(inner)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.returned(op, at, v) {
		return
	}
	if v.outcome == OK {
		op.Attempt, op.Granted = op.Call, op.Asked
		if told.known && told.from >= op.Call && told.from <= at {
			op.Attempt, op.Granted = told.from, told.granted
		}
	}
	c.settle(op)
}

func (l *lease) TTL(ctx context.Context) (time.Duration, error) {
	inner, ok := lockbench.Ability[lockbench.TTLer](l.inner)
	if !ok {
		return 0, errNoAbility
	}
	return inner.TTL(ctx)
}

func (l *lease) Fence() uint64 {
	if inner, ok := lockbench.Ability[lockbench.Fencer](l.inner); ok {
		return inner.Fence()
	}
	return 0
}

func (l *lease) Valid() (from time.Time, granted time.Duration) {
	if inner, ok := lockbench.Ability[lockbench.Validator](l.inner); ok {
		return inner.Valid()
	}
	return time.Time{}, 0
}

// Lost returns a channel that is closed once the loss is in the record, so that
// no client acts on a loss before the history knows it. It is nil when the lease
// within is no Watcher.
func (l *lease) Lost() <-chan struct{} {
	if l.watch == nil {
		return nil
	}
	return l.watch.lost
}
