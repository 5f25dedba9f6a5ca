package history

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// A lease records the operations on one grant.
type lease struct {
	lockbench.Wrapped
	client  *Client
	key     string
	hold    int64
	watch   *watch // nil unless inner reports its loss
	retired bool   // the client serves another owner now
}

// leaseChunk is how many leases a client allocates at a time. Keeping one keeps the whole chunk in
// memory.
const leaseChunk = 32

func (c *Client) wrap(inner lockbench.Lease, key string, hold int64) *lease {
	if len(c.leases) == 0 {
		c.leases = make([]lease, leaseChunk)
	}
	l := &c.leases[0]
	c.leases = c.leases[1:]
	l.Lease, l.client, l.key, l.hold = inner, c, key, hold
	if _, ok := inner.(lockbench.Watcher); ok {
		l.watch = newWatch(l, l.Wrapped.Lost())
	}
	return l
}

func (l *lease) Release(ctx context.Context) error {
	if l.retired { // the client serves another owner now
		return l.Lease.Release(ctx)
	}
	op := l.releasing(0)
	err := l.Lease.Release(ctx)
	l.released(op, err)
	return err
}

func (l *lease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	if _, ok := lockbench.Ability[lockbench.DelayedReleaser](l.Lease); !ok || l.retired {
		return l.Wrapped.ReleaseAfter(ctx, d)
	}
	op := l.releasing(d)
	err := l.Wrapped.ReleaseAfter(ctx, d)
	l.released(op, err)
	return err
}

// releasing ends the watch before the release is sent: a lock may close its Lost channel when it is
// released, which is no loss.
func (l *lease) releasing(delay time.Duration) *Op {
	l.watch.end()
	op := l.client.begin(Release, l.key)
	op.Hold, op.Delay = l.hold, int64(delay)
	l.client.called(op)
	return op
}

func (l *lease) released(op *Op, err error) {
	switch outcome := l.client.done(op, err); {
	case outcome == Failed:
		l.watch.start()
	case l.client.owners != nil && outcome != Refused:
		l.retired = true
		l.client.owners.holdEnded(l.client, outcome)
	}
}

// done records the end of an operation that brings no result but its error.
func (c *Client) done(op *Op, err error) Outcome {
	at, v := c.now(), judge(err, c.notes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.returned(op, at, v) {
		c.settle(op)
	}
	return v.outcome
}

func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	if _, ok := lockbench.Ability[lockbench.Extender](l.Lease); !ok || l.retired {
		return l.Wrapped.Extend(ctx, ttl)
	}
	op := l.client.begin(Extend, l.key)
	op.Hold, op.Asked = l.hold, int64(ttl)
	l.client.called(op)
	err := l.Wrapped.Extend(ctx, ttl)
	l.client.extended(op, err, l.Lease)
	return err
}

// extended records the end of an extend. If the extend did not renew the lease's Valid, Valid still
// describes the acquire, and extended ignores it.
func (c *Client) extended(op *Op, err error, inner lockbench.Lease) {
	at, v := c.now(), judge(err, c.notes)
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

// Lost returns a channel that is closed once the loss is recorded, so that no client acts on a loss
// before it is in the history. It is nil if inner never reports it.
func (l *lease) Lost() <-chan struct{} {
	if l.watch == nil {
		return nil
	}
	return l.watch.lost
}
