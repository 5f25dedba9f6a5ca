// Package count counts what a judgement finds: occasions and violations of each guarantee by the
// exact conditions that touched them ([Table]), durations ([Durations]), and how evenly a lock is
// handed out ([Fairness]). A table costs 12 ns for each row that it counts in, a map entry 265, so
// counts become a map of findings only when the judgement is over. The memory of one short history
// serves the next ([Pool]).
//
// Bounds of memory for all keys together are counted by part of the keys ([PartitionOf], [Ring]), so
// that a checker of some parts remembers exactly as much of them as a checker of all parts does.
package count
