package history

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench"
)

// errNoLease is returned by a recorded Acquire if the lock returned neither a lease nor an error.
// The outcome is then unknown.
var errNoLease = errors.New("the lock returned neither a lease nor an error; hint: return lockbench.ErrNotAcquired when it is held")

// Locker returns inner with a record of each Acquire, and of each operation on a lease, as
// operations of the client. The leases have the abilities of inner's leases, see
// [lockbench.Ability].
func (c *Client) Locker(inner lockbench.Locker) lockbench.Locker {
	return locker{c, inner}
}

type locker struct {
	client *Client
	inner  lockbench.Locker
}

func (l locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	op := l.client.begin(Acquire, key)
	op.Asked, op.Wait = int64(opt.TTL), int64(opt.Wait)
	if l.client.grants != nil {
		if op.Granted = int64(l.client.grants(opt.TTL)); op.Granted == 0 { // unless the answer says otherwise
			op.Asked = 0
		}
	}
	op.Intended, l.client.intended = l.client.intended, 0
	l.client.called(op)
	inner, err := l.inner.Acquire(ctx, key, opt)
	at, v := l.client.now(), judge(err, l.client.notes)
	if inner == nil && v.outcome == OK {
		err = errNoLease
		v = verdict{outcome: Unknown, note: "no-lease"}
	}
	if v.outcome == Refused && l.client.gaveUp(ctx, op, at, err) {
		v = verdict{outcome: Failed, note: l.client.notes.of(err)} // nobody refused
	}
	hold := l.client.acquired(op, at, v, inner)
	if v.outcome != OK {
		return inner, err
	}
	return l.client.wrap(inner, key, hold), err
}

// acquired records the end of an acquire and returns the hold that it began.
func (c *Client) acquired(op *Op, at int64, v verdict, inner lockbench.Lease) int64 {
	var told validity
	var fence uint64
	if v.outcome == OK {
		told = c.validity(inner)
		if f, ok := inner.(lockbench.Fencer); ok {
			fence = f.Fence() // zero from a decorator of a lease that has none
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.returned(op, at, v) {
		return 0
	}
	op.Fence = fence
	anchorAttempt(op)
	switch {
	case v.outcome == OK && told.known && told.from <= at:
		op.Granted = told.granted
		if told.from != NoStamp {
			op.Attempt = told.from
		}
	case v.outcome == OK:
		op.Granted = op.Asked
	case v.outcome != Unknown:
		op.Granted = 0
	}
	hold := op.Hold
	c.settle(op)
	return hold
}

// anchorAttempt sets the start of the only attempt of an acquire that neither waited nor reported
// an attempt: it is the call. If the acquire waited, the start stays unknown.
func anchorAttempt(op *Op) {
	if op.Kind == Acquire && op.Attempts == 0 && op.Wait == 0 {
		op.Attempts, op.Attempt = 1, op.Call
	}
}

// A validity is the report of a lease's Validator, in stamps; from is NoStamp if only the lease is known.
type validity struct {
	known         bool
	from, granted int64
}

func (c *Client) validity(inner lockbench.Lease) validity {
	v, ok := lockbench.Ability[lockbench.Validator](inner)
	if !ok {
		return validity{}
	}
	from, granted := v.Valid()
	switch {
	case !from.IsZero():
		return validity{true, int64(from.Sub(c.base)), int64(granted)}
	case granted > 0:
		return validity{true, NoStamp, int64(granted)}
	}
	return validity{} // a decorator of a lease that is no Validator
}
