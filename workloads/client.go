package workloads

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// A Client is one owner at work. One goroutine uses it; only Counts may be read
// by others meanwhile.
type Client struct {
	ID int
	// Counts is what the client was told so far.
	Counts Counts
	// Waiting, when not nil, is the context of the client's acquires that may wait, in
	// place of the run's.
	Waiting context.Context

	locker lockbench.Locker
	store  lockbench.Store
	run    *Run
	// source is the state of random. It lies in here, away from that of clients on
	// other cores, which would share its cache line.
	source rand.PCG
	random *rand.Rand
	key    func() int
	choice Choice
	// ask and nested are the options of outer and nested acquires.
	ask, nested lockbench.Options

	timer   *time.Timer
	writes  uint64 // made so far: they number the versions
	period  int64  // the next one to take part in (cron)
	refused bool   // the current iteration's acquire was refused
	errors  int    // iterations in a row that ended in an error
}

// Counts adds up what one client was told. All fields only grow and may be read
// while the client runs.
type Counts struct {
	_ [64]byte // keeps clients that run on different cores off each other's cache lines

	Grants  atomic.Int64 // acquires granted, nested ones included
	Refused atomic.Int64 // acquires refused
	Lost    atomic.Int64 // releases and extends told that the lock was lost
	Failed  atomic.Int64 // operations, on the store too, that failed or got no answer
	Done    atomic.Int64 // business done: units sold, points redeemed, jobs run
	Skipped atomic.Int64 // business turned away: sold out, too few points, job run by another
	Stale   atomic.Int64 // reads and writes that a guarded store refused, this client being overtaken

	_ [64]byte
}

// A Choice is all that chance decides about one iteration.
type Choice struct {
	// Key is the index of the lock.
	Key int
	// Hold and Think are the times to work and to pause; Slow: the hold is to
	// outlive its lease instead.
	Hold, Think time.Duration
	Slow        bool
	// Backoff is the pause after a refusal, in place of a Think of 0s.
	Backoff time.Duration
	// Punctuality decides when in its period a server turns to its job, from 0 to
	// 1 (cron).
	Punctuality float64
}

// Choice returns the choice of the current iteration.
func (c *Client) Choice() Choice { return c.choice }

const (
	// backoff is the mean pause of a client that was refused and has no time to
	// think. Some 30 round trips: it keeps the contention up and the
	// refused from taking the server from those that hold.
	backoff    = time.Millisecond
	maxBackoff = 10 * time.Millisecond
	// errorPause, times the errors in a row up to maxErrors, is the pause after
	// an error, so that a server that is gone does not fill the history.
	errorPause = 20 * time.Millisecond
	maxErrors  = 10
)

// Iterate makes one iteration of w: a choice, a step and, in a closed loop, a pause; in
// an open one the client is ready for the next arrival at once. It returns the
// error that spoiled the step, if any; that is no reason to stop, but tells a
// driver that the server may be gone.
func (c *Client) Iterate(ctx context.Context, w Workload) error {
	c.choose()
	err := w.Step(ctx, c)
	if !c.run.open {
		c.pause(ctx, err)
	}
	return err
}

// choose draws everything an iteration may need, always in the same order and
// needed or not, so that no answer of the lock changes later choices.
func (c *Client) choose() {
	o := &c.run.Options
	key := c.key()
	c.refused = false
	c.choice = Choice{
		Key:         key,
		Slow:        c.random.Float64() < o.Slow || key < o.slowKeys(),
		Hold:        o.Hold.Sample(c.random),
		Think:       o.Think.Sample(c.random),
		Backoff:     min(maxBackoff, time.Duration(c.random.ExpFloat64()*float64(backoff))),
		Punctuality: c.random.Float64(),
	}
}

func (c *Client) pause(ctx context.Context, err error) {
	d := c.choice.Think
	switch {
	case err != nil:
		c.errors = min(c.errors+1, maxErrors)
		d = max(d, errorPause*time.Duration(c.errors))
	case c.refused && d == 0:
		c.errors, d = 0, c.choice.Backoff
	default:
		c.errors = 0
	}
	c.Work(ctx, d)
}

// keyName is the key of the current iteration.
func (c *Client) keyName() string { return c.run.keys[c.choice.Key] }

// Acquire obtains the lock on the iteration's key. The lease is nil when that was
// refused, with a nil error, and when it failed, with the error.
func (c *Client) Acquire(ctx context.Context) (lockbench.Lease, error) {
	switch {
	case c.ask.Wait == 0:
	case c.Waiting != nil:
		ctx = c.Waiting
	default:
		ctx = c.run.Waiting
	}
	lease, err := c.try(ctx, c.ask)
	c.refused = lease == nil && err == nil
	return lease, err
}

// acquireNested obtains it once more, without waiting for oneself.
func (c *Client) acquireNested(ctx context.Context) (lockbench.Lease, error) {
	return c.try(ctx, c.nested)
}

func (c *Client) try(ctx context.Context, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := c.locker.Acquire(ctx, c.keyName(), opt)
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

// Release gives a lease up. That it was lost or late is data, not an error.
func (c *Client) Release(ctx context.Context, lease lockbench.Lease) error {
	return c.told(lease.Release(ctx))
}

// told counts the answer to a release or extend and returns what is left of it
// as an error.
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

// versionBits is how much of a version numbers one client's writes; client 0's
// part is 1, which leaves the versions below for the stock prepared beforehand.
const versionBits = 40

// Hold works for d; longer than what lease was granted, and than the design's
// tolerance, when the choice is to be slow. It returns false when the run was
// over before that.
func (c *Client) Hold(ctx context.Context, lease lockbench.Lease, d time.Duration) bool {
	if c.choice.Slow {
		d = max(d, c.run.Options.slowHold(c.granted(lease))+c.run.Tolerance)
	}
	return c.Work(ctx, d)
}

// granted is the lease really given, or the one asked for where that is not told.
func (c *Client) granted(lease lockbench.Lease) time.Duration {
	if v, ok := lockbench.Ability[lockbench.Validator](lease); ok {
		_, granted := v.Valid()
		return max(granted, c.ask.TTL)
	}
	return c.ask.TTL
}

// Work takes d and returns true. When the run is over before that it returns
// false at once, for the client to release and stop. One timer serves a client
// all its life.
func (c *Client) Work(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
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
