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
//   - violate in tally.go looks at the kind, which exclusion.go declares (it breaks exclusion,
//     and answers the question "two at once"), and counts it in exclusion's row of exactly these
//     conditions. Whether it counts against the claims is asked here, and only here. B's
//     grant is one breach, though lease is broken by it, too.
//   - Finish in verdict.go makes a [Finding] of each row: exclusion is broken where nothing
//     went wrong, in 1 of 1 occasions, with the clearest candidate as its counterexample
//     (counterexample.go). exposure.go had counted the occasion before: B's acquire
//     met A's hold.
//
// The timeline finds facts and judges nothing; monitors judge facts and look at no event.
//
// The file of a guarantee, and its group of cases in testdata/cases.txt, have the name of the
// guarantee without hyphens: nospuriousrefusal.go and nospuriousrefusal/free-and-refused judge
// and show no-spurious-refusal. Groups about what happened have its name: cancel, failover.
//
// CONTRIBUTING.md says how to add a guarantee, a condition and a fault, file by file.
package checker
