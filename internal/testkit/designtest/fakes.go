package designtest

import (
	"slices"
	"sync"
	"time"
)

// Attempts is a [design.Observer] that keeps the start of each attempt.
type Attempts struct {
	First chan struct{} // closed at the first one, when not nil

	mu     sync.Mutex
	starts []time.Time
}

// Attempt implements design.Observer.
func (a *Attempts) Attempt(string) time.Time {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.starts) == 0 && a.First != nil {
		close(a.First)
	}
	a.starts = append(a.starts, now)
	return now
}

// Renewing implements design.Observer.
func (a *Attempts) Renewing(string) func(time.Duration, error) {
	return func(time.Duration, error) {}
}

// Renewals implements design.Observer.
func (a *Attempts) Renewals(string) (func(time.Time, time.Duration, error), func(bool)) {
	return func(time.Time, time.Duration, error) {}, func(bool) {}
}

// Ran implements design.Observer.
func (a *Attempts) Ran(time.Time, time.Time) {}

// Starts returns the starts of the attempts so far, in order.
func (a *Attempts) Starts() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.starts)
}

// A Clock stands still until it is moved. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows t.
func NewClock(t time.Time) *Clock { return &Clock{now: t} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
