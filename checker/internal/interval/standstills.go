package interval

import (
	"github.com/lockbench/lockbench/history"
)

// A Span is a standstill, with its start and its end in ns.
type Span struct{ From, Until int64 }

// maxSpans is the number of spans that are remembered one by one.
const maxSpans = 256

// Standstills are the standstills in a history: times in which the process that drives the clients,
// or a server, stood still. The zero Standstills has none.
type Standstills struct {
	// Times counts the standstills; overlapping standstills count as one. For is their duration in
	// all, Longest the longest duration, in ns.
	Times        int64
	For, Longest int64

	spans         []Span // the newest, disjoint and rising
	forgottenSpan Span   // from the start of the first to the end of the last forgotten standstill
	forgottenTime int64  // the duration of the forgotten standstills in all
	gaps          Gaps
}

// NewStandstills returns the standstills of a history with this header. Gaps in the history count
// as well.
func NewStandstills(h history.Header) Standstills { return Standstills{gaps: NewGaps(h)} }

// Next applies the next event of the history. If a gap before it shows a standstill, Next adds and
// returns it.
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

// Add adds a standstill, in ns. It must not begin before the one that was added last.
func (t *Standstills) Add(from, until int64) {
	if until <= from {
		return
	}
	for n := len(t.spans); n > 0 && t.spans[n-1].Until >= from; n-- { // merge those that overlap
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

// Within returns the time, in ns, that standstills lasted between two stamps. Forgotten standstills
// count as far as they may lie between the two, since a missing standstill would accuse the lock.
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

// Met reports whether there was a standstill between two stamps.
func (t *Standstills) Met(from, until int64) bool { return t.Within(from, until) > 0 }

// Gaps finds standstills of live runs by missing events. Clients also read and write the guarded
// store, which is lockbench's own and makes no client wait for a lock. If one waited for it, and no
// client called or returned for longer than the bound, then the process, the server or the network
// between them stood still. The zero Gaps finds none.
type Gaps struct {
	bound      int64          // in ns; 0 finds none
	last       int64          // stamp of the newest call or return
	storeCalls int            // reads and writes under way that return later
	paused     map[int32]bool // clients that are paused themselves
}

// maxGap is the bound of a gap in ns. A quarter of the shortest lease is used instead if that is
// less.
const maxGap = int64(20e6)

// NewGaps returns the Gaps of a history with this header. It finds none unless lockbench recorded
// the history in a live run: in virtual time replies take as long as they are set to, and in
// histories of other recorders the meaning of reads and writes is not known.
func NewGaps(h history.Header) Gaps {
	if h.Environment.OS == "" || h.Server.Kind == "" {
		return Gaps{}
	}
	return Gaps{bound: maxGap}
}

// Next applies the next event of the history, and returns the standstill that ended with it.
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
	if op.CallSeq != 0 { // sequence numbers: not a live run
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

// limit returns the longest gap, in ns, that is no standstill, with regard to the lease of op.
func (g *Gaps) limit(op *history.Op) int64 {
	if op.Asked > 0 {
		g.bound = min(g.bound, max(op.Asked/4, 1e6))
	}
	return g.bound
}

// followStore counts the reads and writes under way. One that never returns proves nothing.
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

// followPauses notes which clients are paused: their waits prove nothing.
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
