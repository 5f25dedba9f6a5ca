package checker

import (
	"fmt"

	"github.com/lockbench/lockbench/history"
)

// crossCheck compares the verdict on exclusion with two others: porcupine's, for keys with few
// operations, and the occupancy monitor's. A contradiction is a defect of lockbench.
func (c *Checker) crossCheck(t history.Trailer) {
	for _, k := range c.sorted() {
		// The monitor counts entries into the lock, the checker counts overlapping pairs of
		// must-hold intervals. One pair may be entered many times, so the two counts contradict
		// each other only if exactly one is zero.
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
