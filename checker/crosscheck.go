package checker

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/crosscheck"
	"github.com/lockbench/lockbench/internal/partition"
)

// porcupine is asked about keys with few operations only: its search is
// exponential in what is under way at one time.
const (
	smallOps     = 24
	smallKeys    = 512 / partition.Count // of each partition: bounds what is kept for it, and with smallTimeout how long it takes
	smallTimeout = 100 * time.Millisecond
)

// small keeps the operations of a key as long as they are few.
type small struct {
	ops  []*history.Op
	many bool
}

// keep keeps op for the cross-check of k, unless k has many operations or many
// other keys are kept already.
func (c *Checker) keep(k *key, op *history.Op) {
	s := &k.few
	switch {
	case c.brief || s.many || op.Kind == history.Read || op.Kind == history.Write:
	case len(s.ops) == smallOps:
		s.ops, s.many = nil, true
		k.part.small--
	case len(s.ops) == 0 && k.part.small == smallKeys:
		s.many = true
	default:
		if len(s.ops) == 0 {
			k.part.small++
		}
		s.ops = append(s.ops, op)
	}
}

// crossCheck holds the sweep's verdict on exclusion against porcupine's, on keys
// that are small enough, and against the occupancy monitor's.
func (c *Checker) crossCheck(t history.Trailer) {
	for _, k := range c.sorted() {
		// The monitor counts entries, the sweep pairs of must-hold intervals: one pair may be
		// entered many times, so that only none against some is a contradiction.
		if n := t.MonitorOverlaps[k.name]; n > 0 && k.conflicts+k.cuts == 0 && !c.partial {
			c.defect("the occupancy monitor saw %d overlaps on key %q, the sweep none", n, k.name)
		}
		if k.few.many || len(k.few.ops) < 2 {
			continue
		}
		sound, known := crosscheck.Linearizable(crosscheck.Segments(k.few.ops, c.departed, c.rules), smallTimeout)
		if !known {
			continue
		}
		c.result.CrossChecked++
		if sound != (k.conflicts == 0) {
			c.defect("porcupine finds key %q sound: %t, yet the sweep found %d conflicts", k.name, sound, k.conflicts)
		}
	}
}

func (c *Checker) defect(format string, args ...any) {
	c.result.Defects = append(c.result.Defects, fmt.Sprintf(format, args...))
}
