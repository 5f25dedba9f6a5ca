package measure

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// keptBases is of how many versions of a record it is remembered that somebody decided
// on them: an update is lost to one that was under way at the same time.
const keptBases = 64

// updates are the versions of one record that writes were decided on, the latest of them.
type updates struct {
	bases [keptBases]uint64
	next  int
}

// again reports whether another write was decided on this version, and notes this one.
func (u *updates) again(base uint64) bool {
	if slices.Contains(u.bases[:], base) {
		return true
	}
	u.bases[u.next] = base
	u.next = (u.next + 1) % keptBases
	return false
}

// accessed counts what reads and writes of the guarded record came to.
func (c *Collector) accessed(op *history.Op) {
	switch {
	case op.Note == history.Stale && op.Outcome == history.Failed:
		c.m.Stale++
	case op.Kind == history.Write && op.Outcome == history.OK && op.Base != 0:
		u := c.updates[op.Key]
		if u == nil {
			u = &updates{}
			c.updates[op.Key] = u
		}
		if u.again(op.Base) {
			c.m.LostUpdates++
		}
	}
}
