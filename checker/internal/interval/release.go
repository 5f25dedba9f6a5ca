package interval

import (
	"github.com/lockbench/lockbench/history"
)

// levels counts how often an owner holds a grant. Every release takes one level of mustDepth. A
// failed release takes none of depth, so mustDepth never exceeds depth. The rules are a field here
// to fill a gap in memory: there are many grants, and their size matters.
type levels struct {
	rules            Rules
	Uncertain        bool  // a release or nested acquire has an unknown effect
	Inner            int32 // inner releases so far
	InnerAt          int64 // call of the first, in ns
	InnerDone        int64 // return of the last, in ns
	mustDepth, depth int32
}

// Release applies the call of release op to the levels and to the must-hold interval. It returns
// whether op is the last release, which gives the key up.
func (g *Grant) Release(op *history.Op) (last bool) {
	lost := op.Outcome == history.LossReported
	if g.mustDepth--; g.mustDepth <= 0 || lost {
		g.Close(Call(op), ByRelease, true)
	} else {
		if g.Inner++; g.Inner == 1 {
			g.InnerAt = op.Call
		}
		g.InnerDone = op.Return
		g.restartLease(op)
	}
	if op.Outcome != history.Failed {
		g.depth--
	}
	g.Uncertain = g.Uncertain || op.Outcome == history.Unknown
	return g.depth <= 0 || lost
}

// GiveUp applies the call of a release that gives the last level of g up, or of a later release:
// the earlier one may have freed an inner level only.
func (g *Grant) GiveUp(op *history.Op) {
	if !g.Released {
		g.Released, g.ReleasedBy = true, op
		if op.Return != history.Never { // otherwise until its owner dies
			g.RenewedBy(op.Return)
		}
		if op.Outcome == history.OK && !g.Uncertain {
			g.CertainlyFree = true
			g.mayUntil, g.exact = After(op.Return, op.Delay), op.Delay == 0
			return
		}
	}
	g.restartLease(op)
	if op.Delay > 0 && op.Outcome != history.Failed { // the delay may begin as late as the end of the lease
		g.pending = append(g.pending, pendingLease{op, op.Delay})
	}
}

// restartLease applies that release op may have left a level, and begun its lease anew.
func (g *Grant) restartLease(op *history.Op) {
	switch {
	case !g.rules.Nested || g.exact:
	case op.Outcome == history.OK:
		g.mayUntil = max(g.mayUntil, After(op.Return, g.MaxLease))
	case op.Outcome == history.Unknown:
		g.pending = append(g.pending, pendingLease{op, g.MaxLease})
	}
}
