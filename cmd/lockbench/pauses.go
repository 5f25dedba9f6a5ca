package main

import "time"

const (
	// slice is how many events are judged at a time while clients are at work.
	slice = 128
	// shortPause lets the clients have the core in between. A goroutine that only
	// offers to yield keeps the scheduler from looking for replies that came in.
	shortPause = 100 * time.Microsecond
	// hurry is how many bytes of history may wait before there are no more pauses.
	hurry = 4 << 20
)

// pauses keeps the judgement of a run out of the way of its clients, who may have to
// share one core with it: it works in slices too short to be noticed in a latency.
type pauses struct{ events int }

// due tells, once for each event, whether a slice is over.
func (p *pauses) due() bool {
	p.events++
	return p.events%slice == 0
}

// rest pauses unless too much is left to be judged.
func (p *pauses) rest(behind int64) {
	if behind < hurry {
		time.Sleep(shortPause)
	}
}
