// Package checker judges a history: which guarantees it shows to be held, which broken,
// under which conditions, and which it never put to the test. It has no clock, no network
// and no opinion on how the history came about. docs/design/guarantees.md has the model,
// docs/design/model.md the proof for mutual exclusion.
//
// # One fact on its way through
//
// A is granted a key for 10 ms. B is granted it 3 ms later, while A still holds it:
//
//	A 0-1 acquire ok ttl=10
//	B 2-3 acquire ok ttl=10
//
// This is the way of what B was told:
//
//   - checker.go takes the events in the order of time. timeline.go applies the return of
//     B's acquire; acquires.go makes a hold of it (hold.go). How long a hold lasts, package
//     interval computes: this one's must-hold interval begins at 3. conditions.go leaves on
//     it the bits of what may still act on the key; here none.
//   - When time moves on from 3, begun in timeline.go compares what began then with what
//     else is open. A's must-hold interval, from 1 to 10, has 3 in it: the fact is
//     factOverlap, about both holds. facts.go passes it to the monitors that listen to it.
//   - heldTogether in exclusion.go makes a candidate of it: kind overlapping, both holds,
//     and the conditions that touched either. The same grant is factGrantedEarly, of which
//     attribution.go makes grantedEarly, by the first explanation that applies.
//   - violate in tally.go looks up the kind in kinds.go (it breaks exclusion, and answers
//     the question "two at once"), and counts it in exclusion's row of exactly these
//     conditions. Whether it counts against the claims is asked here, and only here. B's
//     grant is one breach, though lease is broken by it, too.
//   - Finish in verdict.go makes a [Finding] of each row: exclusion is broken where nothing
//     went wrong, in 1 of 1 occasions, with the clearest candidate as its counterexample
//     (counterexample.go). That there was an occasion exposure.go had found, by what B's
//     acquire met of the holds of others.
//
// The timeline finds facts and judges nothing; monitors judge facts and look at no event.
//
// # To add a guarantee
//
//   - guarantee.go of package lockbench: its name, and what it promises.
//   - kinds.go: its number, in the same order, and a row for each way to break it.
//   - A file of its own: a monitor with the facts that it needs, what it keeps of a key
//     (judged in key.go), what breaks it, and what is an occasion.
//   - facts.go: the monitor, in the list; and a fact, where the timeline has none for it yet.
//   - testdata/cases.txt: a history that breaks it, and one that does not.
//   - Workloads and scenarios that exercise it, designs that claim it.
//
// # To add a condition
//
//   - condition.go of package lockbench: its name, and what it is.
//   - internal/faults/kind.go and explore/exercise.go: which faults bring it; history's events, if
//     there is one more to record.
//   - faults.go: what the event does; conditions.go: which holds get the bit, and until
//     when, with a row in docs/design/guarantees.md.
//   - testdata/cases.txt: a case at either end of its window. testdata/windows.txt: a mutant
//     that leaves the condition out, and one that adds it, which a test must notice.
package checker
