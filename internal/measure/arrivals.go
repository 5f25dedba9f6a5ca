package measure

import (
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// Arrivals are the figures of an open loop: what was asked of the lock, and what came of
// it. All are of the measured part.
type Arrivals struct {
	runinfo.Arrivals
	// OfferedPerSecond is how many arrivals were due, StartedPerSecond how many were begun
	// and AnsweredPerSecond how many acquires were answered, whatever the answer.
	OfferedPerSecond, StartedPerSecond, AnsweredPerSecond float64
}

// When a timetable was not kept.
const (
	// shortShare is the share of arrivals that may be waiting when a run ends. Those are in
	// no percentile, so more of them would flatter it. A run that made up for a time in
	// which nothing was answered has none.
	shortShare = 0.01
	// shortCount and shortTime spare what a sound queue may hold at any moment: a few, and
	// none of them for long.
	shortCount = 10
	shortTime  = time.Second
	// overslept is the share of arrivals that idle clients may begin late by more than
	// counts ([runinfo.Arrivals]). A larger one is no load of the kind that was asked for.
	overslept = 0.05
)

// FellShort reports whether too many of the arrivals that were due had not been begun when
// the run ended: the load that was asked for was not offered, and what those still waited
// for is not in the latencies.
func (a *Arrivals) FellShort() bool {
	return float64(a.Waiting) > shortShare*float64(a.Due) &&
		(a.Waiting >= shortCount || a.BehindNS >= int64(shortTime))
}

// WokeLate reports whether clients that were idle began too many arrivals too late: the
// latencies from the intended start are the machine's rather than the lock's.
func (a *Arrivals) WokeLate() bool {
	return float64(a.Overslept) > overslept*float64(a.Started)
}

// KeptUp reports whether the run offered the load that was asked for.
func (a *Arrivals) KeptUp() bool { return !a.FellShort() && !a.WokeLate() }

// BusyShare is the share, 0 to 1, of all the time that arrivals waited to be begun in which
// no client was idle; 1 when none waited.
func (a *Arrivals) BusyShare() float64 {
	if a.BusyNS+a.WakingNS == 0 {
		return 1
	}
	return float64(a.BusyNS) / float64(a.BusyNS+a.WakingNS)
}

// arrivals are the figures of a history whose trailer has arrivals, else nil.
func (c *Collector) arrivals(end history.End) *Arrivals {
	t := end.Trailer
	if t.Arrivals == nil {
		return nil
	}
	offered := float64(max(0, t.EndNS-c.warmup)) / 1e9
	return &Arrivals{
		Arrivals:          *t.Arrivals,
		OfferedPerSecond:  ratio(float64(t.Arrivals.Due), offered),
		StartedPerSecond:  ratio(float64(t.Arrivals.Started), offered),
		AnsweredPerSecond: ratio(float64(c.answered), c.m.Span.Seconds()),
	}
}
