package measure

import (
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// Arrivals are the figures of an open loop: the load offered to the lock, and its effect.
// All are of the measured part.
type Arrivals struct {
	runinfo.Arrivals
	// OfferedPerSecond is the rate of arrivals that were due, StartedPerSecond the rate of arrivals
	// that were begun, and AnsweredPerSecond the rate of acquires with any answer.
	OfferedPerSecond, StartedPerSecond, AnsweredPerSecond float64
}

// Limits on deviations from a timetable.
const (
	// maxWaitingShare is the share of arrivals that may be waiting when a run ends. Their latencies
	// are in no percentile, so with more the figures would be too good. A run that caught up after
	// an outage has none.
	maxWaitingShare = 0.01
	// toleratedCount and toleratedWait allow for a healthy queue, which at any moment may have a
	// few arrivals that wait a short time.
	toleratedCount = 10
	toleratedWait  = time.Second
	// lateShare is the share of arrivals that idle clients may begin late, beyond the tolerance of
	// [runinfo.Arrivals]. If more are late, the load is not the requested one.
	lateShare = 0.05
)

// FellShort reports whether too many due arrivals had not begun when the run ended: the
// requested load was not offered, and the latencies lack the wait of those arrivals.
func (a *Arrivals) FellShort() bool {
	return float64(a.Waiting) > maxWaitingShare*float64(a.Due) &&
		(a.Waiting >= toleratedCount || a.BehindNS >= int64(toleratedWait))
}

// WokeLate reports whether idle clients began too many arrivals too late: the latencies
// from the intended start are the machine's rather than the lock's.
func (a *Arrivals) WokeLate() bool {
	return float64(a.Overslept) > lateShare*float64(a.Started)
}

// KeptUp reports whether the run offered the requested load.
func (a *Arrivals) KeptUp() bool { return !a.FellShort() && !a.WokeLate() }

// BusyShare returns the share, 0 to 1, of the total wait of arrivals in which no client was idle; 1
// if none waited.
func (a *Arrivals) BusyShare() float64 {
	if a.BusyNS+a.WakingNS == 0 {
		return 1
	}
	return float64(a.BusyNS) / float64(a.BusyNS+a.WakingNS)
}

// arrivals returns the figures of a history with arrivals in its trailer, else nil.
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
