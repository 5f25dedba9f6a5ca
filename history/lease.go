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
	slot := l.releasing(0)
	err := l.inner.Release(ctx)
	l.released(slot, err)
	return err
}

func (l *lease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.DelayedReleaser](l.inner)
	if !ok {
		return errNoAbility
	}
	slot := l.releasing(d)
	err := inner.ReleaseAfter(ctx, d)
	l.released(slot, err)
	return err
}

// releasing ends the watch before the release is sent, for a lock may close its
// Lost channel when it is released, and that is no loss.
func (l *lease) releasing(delay time.Duration) (slot int) {
	l.watch.end()
	return l.client.begin(Op{Kind: Release, Key: l.key, Hold: l.hold, Delay: int64(delay)})
}

func (l *lease) released(slot int, err error) {
	if l.client.done(slot, err) == Failed {
		l.watch.start()
	}
}

// done records the end of an operation that brings no result but its error.
func (c *Client) done(slot int, err error) Outcome {
	at, v := c.rec.Now(), judge(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(c.returned(slot, at, v))
	return v.outcome
}

func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	inner, ok := lockbench.Ability[lockbench.Extender](l.inner)
	if !ok {
		return errNoAbility
	}
	slot := l.client.begin(Op{Kind: Extend, Key: l.key, Hold: l.hold, Asked: int64(ttl)})
	err := inner.Extend(ctx, ttl)
	l.client.extended(slot, err, l.inner)
	return err
}

// extended records the end of an extend. A lease whose Valid was not renewed by
// it tells of the acquire still, and is not believed.
func (c *Client) extended(slot int, err error, inner lockbench.Lease) {
	at, v := c.rec.Now(), judge(err)
	var told validity
	if v.outcome == OK {
		told = c.validity(inner)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	op := c.returned(slot, at, v)
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
