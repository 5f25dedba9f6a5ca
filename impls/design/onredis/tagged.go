package onredis

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// tagged is a process on a Redis Cluster. It locks {key} for key, so that all keys of a lock are in
// one hash slot, as scripts and commands of several keys require.
type tagged struct{ design.Process }

// Locker implements [design.Process].
func (t tagged) Locker(o design.Observer) lockbench.Locker {
	return taggedLocker{t.Process.Locker(untagged{o})}
}

type taggedLocker struct{ lockbench.Locker }

// Acquire implements [lockbench.Locker].
func (t taggedLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	return t.Locker.Acquire(ctx, "{"+key+"}", opt)
}

// untagged reports keys without the tag to an observer.
type untagged struct{ design.Observer }

// Attempt implements [design.Observer].
func (u untagged) Attempt(key string) time.Time { return u.Observer.Attempt(untag(key)) }

// Renewing implements [design.Observer].
func (u untagged) Renewing(key string) func(granted time.Duration, err error) {
	return u.Observer.Renewing(untag(key))
}

// Renewals implements [design.Observer].
func (u untagged) Renewals(key string) (renewed func(from time.Time, granted time.Duration, err error), end func(none bool)) {
	return u.Observer.Renewals(untag(key))
}

func untag(key string) string { return key[1 : len(key)-1] }
