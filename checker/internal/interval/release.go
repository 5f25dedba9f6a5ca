package interval

import (
	"github.com/lockbench/lockbench/history"
)

// levels is how often a grant is held. Every release takes a level of mustDepth, so that it
// is never more than depth, of which a release that failed takes none. The rules are here
// since they fill a gap: grants are many, and their size counts.
type levels struct {
	rules            Rules
	Uncertain        bool  // there is a release or nested acquire whose effect is unknown
	Inner            int32 // inner releases so far
	InnerAt          int64 // call of the first, in ns
	InnerDone        int64 // return of the last, in ns
	mustDepth, depth int32
}

// Release applies the call of release op to the levels and the must-hold interval, and returns
// whether it is the last one, which gives the key up.
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

// GiveUp applies the call of the release that gives g up on the server, and of those after it:
// the one before may have freed a level only.
func (g *Grant) GiveUp(op *history.Op) {
	if !g.Released {
		g.Released, g.ReleasedBy = true, op
		if op.Return != history.Never { // else until its owner dies
			g.RenewedBy(op.Return)
		}
		if op.Outcome == history.OK && !g.Uncertain {
			g.CertainlyFree = true
			g.mayUntil, g.exact = After(op.Return, op.Delay), op.Delay == 0
			return
		}
	}
	g.restartLease(op)
	if op.Delay > 0 && op.Outcome != history.Failed { // it may begin its delay as late as the lease ends
		g.pending = append(g.pending, pendingLease{op, op.Delay})
	}
}

// restartLease notes that release op may have left a level, with its lease begun anew.
func (g *Grant) restartLease(op *history.Op) {
	switch {
	case !g.rules.Nested || g.exact:
	case op.Outcome == history.OK:
		g.mayUntil = max(g.mayUntil, After(op.Return, g.MaxLease))
	case op.Outcome == history.Unknown:
		g.pending = append(g.pending, pendingLease{op, g.MaxLease})
	}
}
