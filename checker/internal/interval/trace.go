package interval

import (
	"math"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

// A trace has the pieces of the must-hold interval of a grant, each with the lease that it lasted by. It is for
// the judge of several machines, whose clocks do not count a lease alike.
type trace struct {
	begin, called int64 // of the newest piece, and of the operation that set its lease
	pieces        []clocks.Hold
}

// Trace begins to keep the pieces of g, which has just begun.
func (g *Grant) Trace() { g.traced = &trace{begin: g.Start.T, called: g.From} }

// Pieces returns the pieces of the must-hold interval of g, up to last, in the order of time. g was traced.
func (g *Grant) Pieces(last Stamp) []clocks.Hold {
	if g.HasMust {
		g.traced.end(g, min(g.MustEnd().T, last.T))
	}
	return g.traced.pieces
}

// ServerUntil returns the earliest end of the validity of g by the server's clock, which may be faster than the clock of
// the stamps. The server counts the newest lease from its call on. g was traced.
func (g *Grant) ServerUntil() int64 {
	if g.Until == math.MaxInt64 {
		return g.Until
	}
	return g.Until - int64(clocks.Slew*float64(g.Until-g.traced.called))
}

// end ends the newest piece at a stamp.
func (t *trace) end(g *Grant, at int64) {
	begin := max(t.begin, g.Start.T)
	if at <= begin {
		return
	}
	p := clocks.Hold{Start: begin, End: at, Called: t.called}
	if g.Until < math.MaxInt64 {
		p.Lease = time.Duration(g.Until - t.called)
	}
	t.pieces = append(t.pieces, p)
}

// setting applies that op is about to set the end of validity. The lease counts from the call of op at the
// earliest.
func (t *trace) setting(g *Grant, op *history.Op, until int64) {
	if until <= g.Until {
		t.called = min(t.called, op.Call)
		return
	}
	begin := op.Call
	if g.HasMust {
		t.end(g, min(g.MustEnd().T, op.Call))
		margin := int64(clocks.Slew * float64(g.Until-t.called))
		if g.rules.Joins() && op.Return > g.Until-margin { // the lease was over by the server's clock, maybe, and op a new grant
			begin = op.Return
		}
	}
	t.begin, t.called = begin, op.Call
}
