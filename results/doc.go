// Package results holds the results of lockbench as data: results of runs and explorations,
// matrices, comparisons and limits. [New], [NewExploration] and [NewLimitTrial] build them from
// judged histories, [Compare] and [CompareMatrices] compare them, and [Read] and [WriteJSON] read
// and write them as JSON. Package reports renders them; this package imports nothing of it.
//
// Terms used in this package:
//
// A cell is a guarantee under a set of conditions, such as exclusion@failover. An occasion is one
// chance for the guarantee to be broken; the exposure of a cell is its number of occasions. A
// finding is the verdict on a cell with its counts.
//
// A claim is a cell that a design promises to keep. A violation counts against a design only if the
// design claims the cell.
//
// A run is one design under one workload. A point is a combination of a number of clients and a
// number of keys; the runs of a lock that differ in nothing else are at different points. A part is
// a run together with its purpose ([Part]), and a scenario is a workload that is explored.
//
// A standstill is a time in which lockbench or a server did not work at all. The self-check is a
// run of a lock that is broken on purpose; a probe is such a lock for a single condition. A
// comparison has two sides: BASE, the results before a change, and NEW, the results after it.
//
// Values of this package are plain data without locks. They may be read by several goroutines at
// once while none changes them.
package results
