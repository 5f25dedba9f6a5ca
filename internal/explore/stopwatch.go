package explore

import (
	"context"
	"sync/atomic"
	"time"
)

// A stopwatch measures real time within a bubble, in which all clocks show virtual time. It runs a
// goroutine outside of the bubble.
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

// read returns the real time since the start.
func (s *stopwatch) read() time.Duration { return time.Duration(s.elapsed.Load()) }

// stop ends the stopwatch, and returns the total time. It must be called outside of the bubble.
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

// stopReason returns the reason to stop after this number of schedules, empty for none. The budget
// does not end an exploration before its first schedule, however slow the machine is.
func (l limit) stopReason(schedules int64) string {
	switch {
	case l.ctx.Err() != nil:
		return "interrupted"
	case l.schedules > 0 && schedules >= l.schedules:
		return "schedules"
	case l.budget > 0 && schedules > 0 && l.watch.read() >= l.budget:
		return "budget"
	}
	return ""
}
