package checker

import (
	"fmt"

	"github.com/lockbench/lockbench/history"
)

// crossCheck holds the sweep's verdict on exclusion against porcupine's, on keys
// that are small enough, and against the occupancy monitor's.
func (c *Checker) crossCheck(t history.Trailer) {
	for _, k := range c.sorted() {
		// The monitor counts entries, the sweep pairs of must-hold intervals: one pair may be
		// entered many times, so that only none against some is a contradiction.
		if n := t.MonitorOverlaps[k.name]; n > 0 && k.conflicts+k.cuts == 0 && !c.partial {
			c.result.Defects = append(c.result.Defects, fmt.Sprintf("the occupancy monitor saw %d overlaps on key %q, the sweep none", n, k.name))
		}
		sound, known := k.operations.Sound(c.clientEnds, c.rules)
		if !known {
			continue
		}
		c.result.CrossChecked++
		if sound != (k.conflicts == 0) {
			c.result.Defects = append(c.result.Defects, fmt.Sprintf("porcupine finds key %q sound: %t, yet the sweep found %d conflicts", k.name, sound, k.conflicts))
		}
	}
}
