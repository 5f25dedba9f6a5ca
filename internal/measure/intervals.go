package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockbench/lockbench/history"
)

// An Interval has the durations of one operation in a part of a run, the warm-up
// included.
type Interval struct {
	Op Op
	// From and To are ns since the start of the run; a duration belongs to the interval
	// in which it ended.
	From, To int64
	// Values are durations in ns. They are valid until emit returns.
	Values *hdrhistogram.Histogram
}

// Intervals measures a history as a [Collector] does, and passes the values on at the end
// of each interval, so that its memory does not grow with the run. It is not safe for
// concurrent use.
type Intervals struct {
	c     *Collector
	width int64
	from  int64 // start of the interval that is being filled
	emit  func(Interval)
}

// NewIntervals returns Intervals of width for the history that h opens. Add and Finish
// call emit once per interval and operation that has a value.
func NewIntervals(h history.Header, width time.Duration, emit func(Interval)) *Intervals {
	h.WarmupNS = 0
	return &Intervals{c: New(h), width: int64(width), emit: emit}
}

// Add adds the next event, in the order of [history.Source].
func (i *Intervals) Add(ev history.Event) {
	at := ev.Op.Call
	if ev.Phase == history.Return {
		at = ev.Op.Return
	}
	if at >= i.from+i.width {
		i.flush(i.from + i.width)
		i.from = at - at%i.width
	}
	i.c.Add(ev)
}

// Finish emits the last interval. Call it once, at the end.
func (i *Intervals) Finish(end history.End) {
	i.flush(max(i.from+1, min(i.from+i.width, max(i.c.last, end.Trailer.EndNS))))
}

func (i *Intervals) flush(to int64) {
	for _, op := range Ops() {
		for _, p := range i.c.m.Phases() {
			if l := p.Latency(op); l.Count() > 0 {
				i.emit(Interval{Op: op, From: i.from, To: to, Values: l.values})
				l.values.Reset()
			}
		}
	}
}
