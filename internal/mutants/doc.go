// Package mutants has locks that are broken on purpose, and sound ones to compare them with, so
// that tests can prove that lockbench finds the faults and accuses no sound lock. A mutant
// re-implements the mechanism of a bug that was found in a real lock library (the number is its row
// in the list of such bugs that lockbench was planned with) or that a source document describes
// (docs/designs.md). It differs little from the sound lock: in one step, or one decision of its
// watchdog.
//
// Bugs of quorums are not here, because they need several servers. Bugs of retry policies are not,
// because they break no judged guarantee.
package mutants
