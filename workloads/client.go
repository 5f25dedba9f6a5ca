package workloads

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// A Client is one owner at work. One goroutine uses it; only Counts may be read
// by others meanwhile.
type Client struct {
	ID int
	// Place is the number of the client among those of its run. A client that takes the place of a dead
	// one has the same. It decides on the keys.
	Place int
	// Counts adds up the answers so far.
	Counts Counts
	// Waiting, when not nil, is the context of the client's acquires that may wait, in
	// place of the run's.
	Waiting context.Context
	// Slow makes all holds of the client outlive their lease.
	Slow bool
	// Driver, when not nil, decides when the client goes on. Without one it goes on at
	// once, and in real time.
	Driver Driver

	// Requests, when not nil, replace locking: the client runs the program's Atomic, and
	// its locker is made of them.
	Requests *Requests

	locker lockbench.Locker
	store  lockbench.Store
	run    *Run
	asked  lockbench.Options // of outer acquires
	chance chance
	choice choice

	timer   *time.Timer
	writes  uint64 // number of writes so far, for their versions
	period  int64  // next period to take part in (cron)
	refused bool   // the current round's acquire was refused
	errors  int    // rounds in a row that ended in an error
}

// A Driver lets one client go on. Its methods are called by the client's goroutine.
type Driver interface {
	// Step returns when the client may make its next call on a lease; what names the call.
	// Timestamps taken after Step are as late as the driver wants the call to be.
	Step(what string)
	// Rest lets d pass, a little more than for any other client. It returns false when the
	// run is over before that.
	Rest(ctx context.Context, d time.Duration) bool
	// Sleep lets exactly d pass: clients that begin it together end it together. It returns
	// like Rest.
	Sleep(ctx context.Context, d time.Duration) bool
	// Die ends the client's process with its locks, as a kill does. The caller must return at
	// once: Die need not return.
	Die()
}

// Counts adds up the answers that one client got. All fields only grow and may be read
// while the client runs.
type Counts struct {
	_ [64]byte // keeps clients that run on different cores off each other's cache lines

	Grants  atomic.Int64 // acquires granted, nested ones included
	Refused atomic.Int64 // acquires refused
	Lost    atomic.Int64 // releases and extends told that the lock was lost
	Failed  atomic.Int64 // operations, on the store too, that failed or got no answer
	Done    atomic.Int64 // business done: units sold, points redeemed, jobs run
	Skipped atomic.Int64 // business turned away: sold out, too few points, job run by another
	Stale   atomic.Int64 // reads and writes that a guarded store refused because a later grant had overtaken the client

	_ [64]byte
}

// step waits until the client may go on.
func (c *Client) step(what string) {
	if c.Driver != nil {
		c.Driver.Step(what)
	}
}

// first reports whether c is the first client, or has taken its place after its death.
func (c *Client) first() bool {
	return c.ID%max(1, c.run.Options.Clients+c.run.Options.Stallers) == 0
}

// keyAt is the n-th key of those that the client takes after the round's key; 0 is the round's key.
func (c *Client) keyAt(n int) string {
	o := &c.run.Options
	groups := o.keyGroups()
	group := c.choice.Key % groups
	within := (c.choice.Key/groups + n) % o.keysOf(group)
	return c.run.Keys[group+groups*within]
}

// Acquire obtains the lock on the round's key, with the run's TTL and Wait. A refusal is a
// nil lease with a nil error, a failure a nil lease with the error.
func (c *Client) Acquire(ctx context.Context) (lockbench.Lease, error) { return c.acquire(ctx, 0) }

// acquire is Acquire on the n-th key after the round's key.
func (c *Client) acquire(ctx context.Context, n int) (lockbench.Lease, error) {
	lease, err := c.try(ctx, "acquire", c.keyAt(n), c.asked)
	c.refused = lease == nil && err == nil
	return lease, err
}

// AcquireWith is Acquire with options of its own.
func (c *Client) AcquireWith(ctx context.Context, opt lockbench.Options) (lockbench.Lease, error) {
	return c.try(ctx, "acquire", c.keyAt(0), opt)
}

// acquireAgain acquires the round's key once more, without waiting.
func (c *Client) acquireAgain(ctx context.Context) (lockbench.Lease, error) {
	return c.try(ctx, "acquire again", c.keyAt(0), lockbench.Options{TTL: c.run.Options.NestedTTL})
}

func (c *Client) try(ctx context.Context, what, key string, opt lockbench.Options) (lockbench.Lease, error) {
	c.step(what)
	if opt.Wait > 0 {
		ctx = c.waiting(ctx)
	}
	lease, err := c.locker.Acquire(ctx, key, opt)
	switch {
	case err == nil:
		c.Counts.Grants.Add(1)
		return lease, nil
	case errors.Is(err, lockbench.ErrNotAcquired):
		c.Counts.Refused.Add(1)
		return nil, nil
	}
	return nil, c.failed(err)
}

// waiting is the context of acquires that may wait.
func (c *Client) waiting(ctx context.Context) context.Context {
	switch {
	case c.Waiting != nil:
		return c.Waiting
	case c.run.Waiting != nil:
		return c.run.Waiting
	}
	return ctx
}

// Release gives a lease up. A lost or late lease is data, not an error.
func (c *Client) Release(ctx context.Context, lease lockbench.Lease) error {
	c.step("release")
	return c.told(lease.Release(ctx))
}

// ReleaseAfter releases so that nobody else is granted the key for d, if the lease can;
// otherwise it releases at once.
func (c *Client) ReleaseAfter(ctx context.Context, lease lockbench.Lease, d time.Duration) error {
	delayer, can := lockbench.Ability[lockbench.DelayedReleaser](lease)
	if !can {
		return c.Release(ctx, lease)
	}
	c.step("release")
	return c.told(delayer.ReleaseAfter(ctx, d))
}

// Extend prolongs a lease to ttl from now on and reports whether it did. A lease that is
// lost or cannot be extended gives false and no error.
func (c *Client) Extend(ctx context.Context, lease lockbench.Lease, ttl time.Duration) (bool, error) {
	extender, can := lockbench.Ability[lockbench.Extender](lease)
	if !can {
		return false, nil
	}
	c.step("extend")
	err := extender.Extend(ctx, ttl)
	return err == nil, c.told(err)
}

// told counts the answer to a release or extend, and returns err if the call failed.
func (c *Client) told(err error) error {
	switch {
	case err == nil, errors.Is(err, lockbench.ErrLate):
		return nil
	case errors.Is(err, lockbench.ErrNotHeld):
		c.Counts.Lost.Add(1)
		return nil
	}
	return c.failed(err)
}

func (c *Client) failed(err error) error {
	if err != nil {
		c.Counts.Failed.Add(1)
	}
	return err
}

// Hold works for the drawn time, or, in a slow hold, for longer than the granted lease and
// the design's tolerance. It returns false when the run is over before that.
func (c *Client) Hold(ctx context.Context, lease lockbench.Lease) bool {
	return c.hold(ctx, lease, c.choice.Hold)
}

// hold is Hold for d.
func (c *Client) hold(ctx context.Context, lease lockbench.Lease, d time.Duration) bool {
	if c.choice.Slow {
		d = max(d, c.run.Options.slowHold(c.granted(lease))+c.run.Tolerance)
	}
	return c.work(ctx, d)
}

// granted is the longer of the granted and the requested lease.
func (c *Client) granted(lease lockbench.Lease) time.Duration {
	if v, ok := lockbench.Ability[lockbench.Validator](lease); ok {
		_, granted := v.Valid()
		return max(granted, c.asked.TTL)
	}
	return c.asked.TTL
}

// rest works for a time in leases.
func (c *Client) rest(ctx context.Context, leases float64) bool {
	return c.work(ctx, time.Duration(leases*float64(c.run.Lease)))
}

// work takes d and returns true. When the run is over before that it returns
// false at once, for the client to release and stop. One timer serves a client
// all its life.
func (c *Client) work(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	if c.Driver != nil {
		return c.Driver.Rest(ctx, d)
	}
	if c.timer == nil {
		c.timer = time.NewTimer(d)
	} else {
		c.timer.Reset(d)
	}
	select {
	case <-c.timer.C:
		return true
	case <-c.run.Over:
	case <-ctx.Done():
	}
	c.timer.Stop()
	return false
}
