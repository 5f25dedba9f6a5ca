// Package checker judges a history: which guarantees it shows to be held or broken, under which
// conditions, and which it did not expose. It has no clock and no network, and does not depend on
// how the history was recorded. docs/design/guarantees.md has the model, docs/design/model.md the
// proof for mutual exclusion.
//
// # The way of one fact
//
// A is granted a key for 10 ms. B is granted it 3 ms later, while A still holds it:
//
//	A 0-1 acquire ok ttl=10
//	B 2-3 acquire ok ttl=10
//
// The answer to B takes this way:
//
//   - checker.go takes the events in the order of time. timeline.go applies the return of
//     B's acquire; acquires.go adds a hold (hold.go). Package interval computes how long a
//     hold lasts: the must-hold interval of this one begins at 3. conditions.go sets the
//     conditions on it that may still act on the key; here none.
//   - When time moves on from 3, compareStart in timeline.go compares the holds that began at 3
//     with the other open holds. A's must-hold interval, from 1 to 10, contains 3: the fact is
//     factOverlap, about both holds. facts.go passes it to the monitors that listen.
//   - heldTogether in exclusion.go makes a candidate of it: of kind overlapping, with both holds
//     and the conditions that touched either. The same grant is factGrantedEarly. attribution.go
//     makes it a candidate of kind grantedEarly, by the first explanation that applies.
//   - violate in tally.go looks at the kind, which exclusion.go declares (it breaks exclusion,
//     and answers the question "two at once"), and counts it in the row of exclusion under
//     exactly these conditions. Here, and only here, it decides whether the violation counts
//     against the claims. B's grant is one breach, although it breaks lease as well.
//   - Finish in verdict.go makes a [Finding] of each row: exclusion under no condition is
//     broken, by 1 of 1 occasions, with the clearest candidate as its counterexample
//     (counterexample.go). exposure.go had counted the occasion before: B's acquire met A's
//     hold.
//
// The timeline finds facts and does not judge them; monitors judge facts and do not read events.
//
// The file of a guarantee, and its group of cases in testdata/cases.txt, have the name of the
// guarantee without hyphens: nospuriousrefusal.go and nospuriousrefusal/free-and-refused judge and
// show no-spurious-refusal. Groups about a condition have its name: cancel, failover.
//
// CONTRIBUTING.md describes how to add a guarantee, a condition and a fault, file by file.
package checker
