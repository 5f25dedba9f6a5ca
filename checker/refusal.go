package checker

import (
	"math"
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
	// proven are those of them that returned at the instant now: a grant may yet
	// turn out to have been called at it.
	proven []*history.Op
	// residues are, by client, until when levels may be left of holds whose release
	// was not answered ok.
	residues clientTimes
}

func (r *refusals) gone(h *hold) {
	until := h.latest(r.slack)
	r.busy = max(r.busy, until)
	r.left(h)
}

// left notes what the server may have left of h when its owner gave it up.
func (r *refusals) left(h *hold) {
	if !h.certain {
		r.residues.raise(h.client, h.latest(r.slack))
	}
}

// residual tells whether acquire op may have added a level to what its client
// had left of an earlier hold: then its release does not free the key for certain.
func (r *refusals) residual(op *history.Op) bool {
	until, ok := r.residues.get(op.Client)
	return ok && until >= op.Call
}

// clientTimes has one time in ns for each of a few clients.
type clientTimes []clientTime

type clientTime struct {
	client int32
	t      int64
}

func (all clientTimes) get(client int32) (int64, bool) {
	for _, c := range all {
		if c.client == client {
			return c.t, true
		}
	}
	return 0, false
}

func (all *clientTimes) set(client int32, t int64) {
	for i := range *all {
		if (*all)[i].client == client {
			(*all)[i].t = t
			return
		}
	}
	*all = append(*all, clientTime{client, t})
}

func (all *clientTimes) raise(client int32, t int64) {
	if old, ok := all.get(client); !ok || old < t {
		all.set(client, t)
	}
}

// lower keeps the lower of t and what client has.
func (all *clientTimes) lower(client int32, t int64) {
	if old, ok := all.get(client); !ok || old > t {
		all.set(client, t)
	}
}

// of is what client has, without bound when it has nothing.
func (all clientTimes) of(client int32) int64 {
	if t, ok := all.get(client); ok {
		return t
	}
	return math.MaxInt64
}

// tryBegun applies the call of an acquire.
func (c *Checker) tryBegun(k *key, op *history.Op) {
	r := &k.refusal
	free := c.freeBefore(k, op.Call)
	switch op.Outcome {
	case history.OK:
		if free {
			c.expose(lockbench.NoSpuriousRefusal)
		}
		r.granted()
	case history.Unknown:
		r.tainted = true
		r.granted()
	case history.Refused:
		if free {
			r.tries = append(r.tries, op)
		}
	}
}

// granted notes that an acquire was called that is, or may be, granted.
func (r *refusals) granted() {
	r.granting++
	r.tries, r.proven = r.tries[:0], r.proven[:0]
}

// refusedFree reports the refusals proven wrong by the time that moved on.
func (c *Checker) refusedFree(k *key) {
	for _, op := range k.refusal.proven {
		c.expose(lockbench.NoSpuriousRefusal)
		c.violateOp(lockbench.NoSpuriousRefusal, k, refusedFree, op)
	}
	k.refusal.proven = k.refusal.proven[:0]
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
		if i := slices.Index(r.tries, op); i >= 0 && !c.partial {
			r.tries = slices.Delete(r.tries, i, i+1)
			r.proven = append(r.proven, op)
		}
	}
}
