package standstill

import (
	"context"
	"sync"
	"time"
)

// A Config is how a [Watcher] watches.
type Config struct {
	// Bound is how late a look or an answer may be, see [DefaultBound]; zero is that.
	Bound time.Duration
	// Ask asks a server each for something that takes it no time, and waits for the answer or for
	// the end of ctx. An error that comes at once is an answer.
	Ask []func(ctx context.Context) error
	// Outages counts how often servers went away for a reason that the history has anyway, as a
	// fault that was injected, and how often they were back: what is odd, or changes during a question, is
	// no standstill. Nil is never.
	Outages func() int64
	// Seen is told of each standstill when it is over, Certain of the instant before which no
	// standstill begins that Seen is still to be told of. Both are called by goroutines of
	// the Watcher, one call at a time, and must not wait for it. Nil is for nobody.
	Seen    func(Standstill)
	Certain func(until time.Time)
	// Clock is for tests; nil is the machine's.
	Clock Clock
}

// A Clock has a Watcher wait.
type Clock interface {
	Now() time.Time
	// Sleep returns when d is over, or ctx.
	Sleep(ctx context.Context, d time.Duration)
}

// A Watcher watches until it is stopped. Its methods are safe for concurrent use.
type Watcher struct {
	cfg  Config
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	looked time.Time   // the last look at the clock
	asked  []time.Time // when the question under way was asked of each server; zero when there is none
	stood  Standstill  // the driver's last one
	sum    Sum
}

// Start begins to watch, in a goroutine for the clock and one for each server, which Stop ends.
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
	w.looked = c.Clock.Now() // a reader may have been shown what came before it was held back
	w.done.Go(func() { w.look(ctx) })
	for server := range c.Ask {
		w.done.Go(func() { w.ask(ctx, server) })
	}
	return w
}

// Stop ends watching, waits for it, and returns how much there was. What stands still when
// Stop is called counts until then. Calls after the first return the same.
func (w *Watcher) Stop() Sum {
	w.stop()
	w.done.Wait()
	return w.Sum()
}

// Sum returns how much there was so far.
func (w *Watcher) Sum() Sum {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// look looks at the clock until ctx ends.
func (w *Watcher) look(ctx context.Context) {
	for ctx.Err() == nil {
		w.cfg.Clock.Sleep(ctx, w.cfg.Bound/4)
		w.mu.Lock()
		w.lookNow()
		w.certain()
		w.mu.Unlock()
	}
}

// lookNow sees whether the last look was too long ago, and returns the time. w.mu is held.
func (w *Watcher) lookNow() time.Time {
	now := w.cfg.Clock.Now()
	if now.Sub(w.looked) > w.cfg.Bound {
		w.stood = Standstill{Driver, w.looked, now}
		w.saw(w.stood)
	}
	w.looked = now
	return now
}

// ask asks a server until ctx ends.
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

	_ = w.cfg.Ask[server](ctx) // one that fails late was not answered in time, either

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

// drivers is for how long the driver stood still between two instants the last time that it did.
// A second time within one question is the server's, which may be: in doubt it stood still.
// w.mu is held.
func (w *Watcher) drivers(from, until time.Time) time.Duration {
	if w.stood.From.After(from) {
		from = w.stood.From
	}
	if w.stood.Until.Before(until) {
		until = w.stood.Until
	}
	return max(0, until.Sub(from))
}

// saw passes on a standstill. w.mu is held.
func (w *Watcher) saw(s Standstill) {
	w.sum.Add(s)
	if w.cfg.Seen != nil {
		w.cfg.Seen(s)
	}
}

// certain says from when on a standstill may turn out to have begun. w.mu is held.
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

// machine is the clock of the machine.
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
