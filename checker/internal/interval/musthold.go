package interval

// mustHold is the newest segment of the must-hold interval. It lies within validity. No segment
// lasts beyond End.
type mustHold struct {
	Start, End        Stamp
	HasMust           bool // there is a segment
	Ended             bool // nothing more can be in it
	EndedBy           Cause
	openedByRenewal   bool // a renewal in the background opened the segment
	endedInBackground bool // a renewal or Lost() ended it, not a call of the owner
}

// A Cause is the event that ended a must-hold interval.
type Cause uint8

// The causes.
const (
	ByValidity Cause = iota // the lease was over
	ByRelease
	ByReacquire
	ByRefusal
	ByLoss
	ByDeath
	ByCut
)

// String returns the cause in a word.
func (c Cause) String() string {
	return [...]string{"validity", "release", "reacquired", "refused", "lost", "death", "cut"}[c]
}

// open begins a segment of the must-hold interval at s, and returns whether validity lasts beyond
// s.
func (g *Grant) open(s Stamp) bool {
	if g.End.Before(s) || !s.Before(Stamp{T: g.Until}) {
		return false
	}
	g.HasMust, g.Start = true, s
	return true
}

// MustEnd returns the end of the newest segment, as far as it is known.
func (g *Grant) MustEnd() Stamp { return Earlier(g.End, Stamp{T: g.Until}) }

// EndCause returns the cause of the end of the newest segment, as far as it is known.
func (g *Grant) EndCause() Cause {
	if g.Ended && g.End.Before(Stamp{T: g.Until}) {
		return g.EndedBy
	}
	return ByValidity
}

// MustHoldAt reports whether the must-hold interval has begun at s or before and lasts beyond s.
func (g *Grant) MustHoldAt(s Stamp) bool {
	return g.HasMust && !s.Before(g.Start) && s.Before(g.MustEnd())
}

// Close ends the must-hold interval at s for the reason by, and notes that the owner knows it. Only
// the first end counts. own is set if a call of the owner ended it, so that its order among the
// owner's other calls is known.
func (g *Grant) Close(s Stamp, by Cause, own bool) {
	g.LastWork = Earlier(g.LastWork, s)
	g.CloseUnknown(s, by, own)
}

// CloseUnknown ends the must-hold interval as Close does, without the owner's knowledge.
func (g *Grant) CloseUnknown(s Stamp, by Cause, own bool) {
	if !g.Ended {
		g.Ended, g.End, g.EndedBy = true, s, by
	}
	g.endedInBackground = g.endedInBackground || !own && s == g.End
}

// emptySegment reports whether the newest segment is empty: it began and ended at one instant, and
// the order of the two is not known, since one of them was not a call of the owner.
func (g *Grant) emptySegment() bool {
	return (g.openedByRenewal || g.endedInBackground) && !g.Start.Before(g.MustEnd())
}

// Conflict reports whether the newest segments of a and b share an instant, end points excluded.
func Conflict(a, b *Grant) bool {
	if a.emptySegment() || b.emptySegment() {
		return false
	}
	return a.HasMust && b.HasMust && a.Start.Before(b.MustEnd()) && b.Start.Before(a.MustEnd())
}

// Shared returns how long, in ns, the newest segments of a and b conflicted, up to last.
func Shared(a, b *Grant, last Stamp) int64 {
	begin := max(a.Start.T, b.Start.T)
	return max(0, min(a.MustEnd().T, b.MustEnd().T, last.T)-begin)
}
