package measure

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// maxBases is the number of versions of a record that are remembered as the base of a write. A lost
// update shows by a second write with the same base.
const maxBases = 64

// updates has the latest versions of one record that were the base of a write.
type updates struct {
	bases [maxBases]uint64
	next  int
}

// again reports whether an earlier write had this base, and remembers it.
func (u *updates) again(base uint64) bool {
	if slices.Contains(u.bases[:], base) {
		return true
	}
	u.bases[u.next] = base
	u.next = (u.next + 1) % maxBases
	return false
}

// accessed counts the outcome of reads and writes of the guarded record.
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
