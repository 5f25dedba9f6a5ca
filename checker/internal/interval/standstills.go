package interval

import (
	"github.com/lockbench/lockbench/history"
)

// A Span is a standstill, from one stamp to another, in ns.
type Span struct{ From, Until int64 }

// maxSpans is the number of spans that are kept one by one.
const maxSpans = 256

// Standstills are the standstills of a history. The zero Standstills has none.
type Standstills struct {
	// Times counts them, those that overlap as one. For is how long they lasted in all, Longest the
	// longest of them, in ns.
	Times        int64
	For, Longest int64

	spans         []Span // disjoint, by rising time: the newest
	forgottenSpan Span   // from the first to the last of those that are not among them
	forgottenTime int64  // how long those lasted in all
	gaps          Gaps
}

// NewStandstills returns the standstills of a history with this header, in which gaps count, too.
func NewStandstills(h history.Header) Standstills { return Standstills{gaps: NewGaps(h)} }

// Next takes the next event of the history, and adds the standstill that a gap before it shows,
// which it returns.
func (t *Standstills) Next(ev history.Event) (gap Span, found bool) {
	if t.gaps.bound == 0 {
		return Span{}, false
	}
	return t.next(ev)
}

func (t *Standstills) next(ev history.Event) (gap Span, found bool) {
	if gap, found = t.gaps.Next(ev); found {
		t.Add(gap.From, gap.Until)
	}
	return gap, found
}

// Add takes in a standstill that begins, or ends, no earlier than those before it began.
func (t *Standstills) Add(from, until int64) {
	if until <= from {
		return
	}
	for n := len(t.spans); n > 0 && t.spans[n-1].Until >= from; n-- { // they are one
		last := t.spans[n-1]
		from, until = min(from, last.From), max(until, last.Until)
		t.spans = t.spans[:n-1]
		t.Times--
		t.For -= last.Until - last.From
	}
	if len(t.spans) == maxSpans {
		first := t.spans[0]
		t.forgottenSpan.Until = first.Until
		t.forgottenTime += first.Until - first.From
		t.spans = append(t.spans[:0], t.spans[1:]...)
	}
	t.spans = append(t.spans, Span{from, until})
	t.Times++
	t.For += until - from
	t.Longest = max(t.Longest, until-from)
}

// Within is for how long nobody could do anything between two stamps. What is not remembered
// counts as within if it may be: a forgotten cause would accuse.
func (t *Standstills) Within(from, until int64) (sum int64) {
	for i := len(t.spans) - 1; i >= 0; i-- {
		s := t.spans[i]
		if s.Until <= from {
			return sum
		}
		sum += max(0, min(s.Until, until)-max(s.From, from))
	}
	return sum + max(0, min(t.forgottenTime, min(t.forgottenSpan.Until, until)-from))
}

// Met reports whether what went on between two stamps met a standstill.
func (t *Standstills) Met(from, until int64) bool { return t.Within(from, until) > 0 }

// Gaps finds standstills in what is missing. Where no client of a live run called or returned for longer
// than the bound, and one of them waited all the while for the guarded store, which
// is lockbench's own and grants no locks, nobody was served: the process stood still,
// or the server, or the way between the two. The zero Gaps finds none.
type Gaps struct {
	bound      int64
	last       int64          // stamp of the newest call or return
	storeCalls int            // reads and writes under way that return
	paused     map[int32]bool // clients that stand still by themselves
}

// bounds of a gap, in ns: a standstill is longer than a quarter of the lease, or than maxGap.
const maxGap = int64(20e6)

// NewGaps finds the standstills of a history with this header: of a live run, since in virtual
// time a reply takes as long as it is told to, and in another's history nobody knows what reads
// and writes are.
func NewGaps(h history.Header) Gaps {
	if h.Environment.OS == "" || h.Server.Kind == "" {
		return Gaps{}
	}
	return Gaps{bound: maxGap}
}

// Next takes the next event of the history, and returns the standstill that ended with it.
func (g *Gaps) Next(ev history.Event) (gap Span, found bool) {
	op := ev.Op
	at := op.Call
	switch {
	case g.bound == 0 || ev.Phase == history.Cut:
		return Span{}, false
	case ev.Phase == history.Return:
		at = op.Return
	case op.Kind >= history.Lost:
		g.followPauses(op)
		return Span{}, false
	}
	if op.CallSeq != 0 { // a number for each stamp: not a live run's
		g.bound = 0
		return Span{}, false
	}
	if at-g.last > g.limit(op) && g.storeCalls > 0 && len(g.paused) == 0 {
		gap, found = Span{g.last, at}, true
	}
	g.last = at
	g.followStore(ev)
	return gap, found
}

// limit is the longest gap that shows nothing, as far as the lease of op says.
func (g *Gaps) limit(op *history.Op) int64 {
	if op.Asked > 0 {
		g.bound = min(g.bound, max(op.Asked/4, 1e6))
	}
	return g.bound
}

// followStore follows which reads and writes are under way. One that never returns shows nothing.
func (g *Gaps) followStore(ev history.Event) {
	if op := ev.Op; op.Kind != history.Read && op.Kind != history.Write || op.Return == history.Never {
		return
	}
	if ev.Phase == history.Call {
		g.storeCalls++
	} else {
		g.storeCalls--
	}
}

// followPauses follows who stands still by itself: what such a client waits for shows nothing.
func (g *Gaps) followPauses(op *history.Op) {
	switch op.Kind {
	case history.Pause:
		if g.paused == nil {
			g.paused = map[int32]bool{}
		}
		g.paused[op.Client] = true
	case history.Resume, history.Death:
		delete(g.paused, op.Client)
	}
}
