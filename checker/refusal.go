package checker

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// refusalSlack is added to the end of a lease before a key counts as provably
// free: room for rounding and for a server's lazy expiry. The design's own
// tolerance comes on top.
const refusalSlack = time.Second

// refusals tells when a key is provably free: no hold, read as widely as can be,
// reaches into that time.
type refusals struct {
	tainted  bool  // an acquire of unknown outcome may take it at any time
	granting int   // acquires under way that will be, or may be, granted
	busy     int64 // the latest instant at which a hold that is gone may have ended
	slack    int64
	tries    []*history.Op // refused acquires under way, the key free so far
}

func (r *refusals) gone(h *hold) { r.busy = max(r.busy, h.latest(r.slack)) }

// tryBegun applies the call of an acquire.
func (c *Checker) tryBegun(k *key, op *history.Op) {
	r := &k.refusal
	free := c.freeBefore(k, op.Call)
	switch op.Outcome {
	case history.OK:
		if free {
			c.expose(lockbench.NoSpuriousRefusal)
		}
		r.granting++
		r.tries = r.tries[:0]
	case history.Unknown:
		r.tainted = true
		r.granting++
		r.tries = r.tries[:0]
	case history.Refused:
		if free {
			r.tries = append(r.tries, op)
		}
	}
}

// freeBefore tells whether the key was provably free at t and just before.
func (c *Checker) freeBefore(k *key, t int64) bool {
	r := &k.refusal
	if c.partial || r.tainted || r.granting > 0 || r.busy >= t {
		return false
	}
	for _, h := range k.holds {
		if h.latest(r.slack) >= t {
			return false
		}
	}
	return true
}

// tryEnded applies the return of an acquire.
func (c *Checker) tryEnded(k *key, op *history.Op) {
	r := &k.refusal
	switch op.Outcome {
	case history.OK, history.Unknown:
		r.granting--
	case history.Refused:
		if i := slices.Index(r.tries, op); i >= 0 {
			r.tries = slices.Delete(r.tries, i, i+1)
			c.expose(lockbench.NoSpuriousRefusal)
			c.violateOp(lockbench.NoSpuriousRefusal, k, refusedFree, op)
		}
	}
}
