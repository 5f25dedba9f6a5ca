// Package mutants has locks that are broken on purpose, and sound ones to compare
// them with, so that tests can show what lockbench finds and what it leaves
// alone. A mutant re-implements the mechanism of a bug that was found in a real
// lock library (the number is its row in the list of such bugs that lockbench was
// planned with) or that a source document describes (docs/designs.md), as a small difference
// from the sound lock: one step, or one decision of its watchdog.
//
// Bugs of quorums are not here: they need several servers. Retry policies break no guarantee that is
// judged.
package mutants
