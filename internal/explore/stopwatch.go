package explore

import (
	"context"
	"sync/atomic"
	"time"
)

// A stopwatch measures real time in a bubble, in which all clocks show virtual time: a
// goroutine outside keeps it.
type stopwatch struct {
	begun   time.Time
	elapsed atomic.Int64 // ns
	quit    chan struct{}
	ended   chan struct{}
}

// tickEvery is the precision of a stopwatch.
const tickEvery = 2 * time.Millisecond

// startStopwatch must be called outside of the bubble.
func startStopwatch() *stopwatch {
	s := &stopwatch{begun: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	go s.run()
	return s
}

func (s *stopwatch) run() {
	defer close(s.ended)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.elapsed.Store(int64(time.Since(s.begun)))
		case <-s.quit:
			return
		}
	}
}

// read is the real time since the start.
func (s *stopwatch) read() time.Duration { return time.Duration(s.elapsed.Load()) }

// stop ends the stopwatch, again outside of the bubble, and returns the whole time.
func (s *stopwatch) stop() time.Duration {
	close(s.quit)
	<-s.ended
	return time.Since(s.begun)
}

// A limit bounds an exploration.
type limit struct {
	ctx       context.Context
	watch     *stopwatch
	budget    time.Duration // zero: none
	schedules int64         // zero: none
}

// stopReason is the reason to stop after so many schedules, empty to go on.
func (l limit) stopReason(schedules int64) string {
	switch {
	case l.ctx.Err() != nil:
		return "interrupted"
	case l.schedules > 0 && schedules >= l.schedules:
		return "schedules"
	case l.budget > 0 && l.watch.read() >= l.budget:
		return "budget"
	}
	return ""
}
