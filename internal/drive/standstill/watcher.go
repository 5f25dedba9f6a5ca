package standstill

import (
	"context"
	"sync"
	"time"
)

// A Config describes the work of a [Watcher].
type Config struct {
	// Bound is the largest delay of a reading or an answer, see [DefaultBound]; zero is that.
	Bound time.Duration
	// Ask has one function per server, which sends a request that takes the server no time, and
	// waits for the answer or for the end of ctx. An immediate error is an answer.
	Ask []func(ctx context.Context) error
	// Outages counts how often servers went away for a reason that is already in the history, such
	// as an injected fault, and how often they came back. A delay is no standstill if the count is
	// odd or changes during the request. Nil means never.
	Outages func() int64
	// Seen takes each standstill when it is over. Certain takes an instant such that no later call
	// of Seen has a standstill that begins before it. Goroutines of the Watcher call both, one call
	// at a time, and they must not wait for the Watcher. They may be nil.
	Seen    func(Standstill)
	Certain func(until time.Time)
	// Clock is for tests; nil is the machine's clock.
	Clock Clock
}

// A Clock tells the time to a Watcher and makes it wait.
type Clock interface {
	Now() time.Time
	// Sleep returns when d is over, or ctx ends.
	Sleep(ctx context.Context, d time.Duration)
}

// A Watcher watches until it is stopped. Its methods are safe for concurrent use.
type Watcher struct {
	cfg  Config
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	looked time.Time   // last reading of the clock
	asked  []time.Time // start of the pending request to each server; zero for none
	stood  Standstill  // the driver's last standstill
	sum    Sum
}

// Start begins to watch, in a goroutine for the clock and one for each server. Stop ends them.
func Start(c Config) *Watcher {
	if c.Bound <= 0 {
		c.Bound = DefaultBound
	}
	if c.Clock == nil {
		c.Clock = machine{}
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &Watcher{cfg: c, stop: stop, looked: c.Clock.Now(), asked: make([]time.Time, len(c.Ask))}
	w.certain()
	w.looked = c.Clock.Now() // a reader may have seen the events before it was held back
	w.done.Go(func() { w.look(ctx) })
	for server := range c.Ask {
		w.done.Go(func() { w.ask(ctx, server) })
	}
	return w
}

// Stop ends watching, waits for it, and returns the sum. A standstill at the time of Stop counts up
// to then. Later calls return the same.
func (w *Watcher) Stop() Sum {
	w.stop()
	w.done.Wait()
	return w.Sum()
}

// Sum returns the sum so far.
func (w *Watcher) Sum() Sum {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// look reads the clock until ctx ends.
func (w *Watcher) look(ctx context.Context) {
	for ctx.Err() == nil {
		w.cfg.Clock.Sleep(ctx, w.cfg.Bound/4)
		w.mu.Lock()
		w.lookNow()
		w.certain()
		w.mu.Unlock()
	}
}

// lookNow reads the clock, records a standstill if the last reading was too long ago, and returns
// the time. w.mu is held.
func (w *Watcher) lookNow() time.Time {
	now := w.cfg.Clock.Now()
	if now.Sub(w.looked) > w.cfg.Bound {
		w.stood = Standstill{Driver, w.looked, now}
		w.saw(w.stood)
	}
	w.looked = now
	return now
}

// ask sends requests to a server until ctx ends.
func (w *Watcher) ask(ctx context.Context, server int) {
	for ctx.Err() == nil {
		w.cfg.Clock.Sleep(ctx, w.cfg.Bound)
		w.askOnce(ctx, server)
	}
}

func (w *Watcher) askOnce(ctx context.Context, server int) {
	outages := w.outages()
	w.mu.Lock()
	asked := w.lookNow()
	w.asked[server] = asked
	w.mu.Unlock()

	_ = w.cfg.Ask[server](ctx) // a late error is no timely answer, either

	known := outages%2 != 0 || w.outages() != outages
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.lookNow()
	w.asked[server] = time.Time{}
	if !known && now.Sub(asked)-w.drivers(asked, now) > w.cfg.Bound {
		w.saw(Standstill{Server, asked, now})
	}
}

func (w *Watcher) outages() int64 {
	if w.cfg.Outages == nil {
		return 0
	}
	return w.cfg.Outages()
}

// drivers is how long the driver's last standstill lasted between two instants. An earlier
// standstill within one request is attributed to the server: in doubt the server stood still. w.mu
// is held.
func (w *Watcher) drivers(from, until time.Time) time.Duration {
	if w.stood.From.After(from) {
		from = w.stood.From
	}
	if w.stood.Until.Before(until) {
		until = w.stood.Until
	}
	return max(0, until.Sub(from))
}

// saw reports a standstill. w.mu is held.
func (w *Watcher) saw(s Standstill) {
	w.sum.Add(s)
	if w.cfg.Seen != nil {
		w.cfg.Seen(s)
	}
}

// certain reports the earliest possible beginning of a standstill that may still turn out. w.mu is
// held.
func (w *Watcher) certain() {
	if w.cfg.Certain == nil {
		return
	}
	at := w.looked
	for _, asked := range w.asked {
		if !asked.IsZero() && asked.Before(at) {
			at = asked
		}
	}
	w.cfg.Certain(at)
}

// machine is the machine's clock.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

func (machine) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
