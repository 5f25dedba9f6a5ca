// Package interval says how long one grant of a key lasts, as far as the operations of its
// owner show. A [Grant] has two intervals:
//
//   - The must-hold interval: its owner certainly holds the key, by any explanation of the
//     history. It is a union of segments, of which the newest is kept. What is in doubt
//     makes it shorter.
//   - The may-hold interval: the server may keep the key from others on account of the
//     grant. What is in doubt makes it longer.
//
// docs/design/model.md proves that the operations on a key can be explained if and only if
// no two must-hold intervals of different owners share an instant ([Conflict]), and that a
// key that no may-hold interval reaches is free. So each method here has to keep two things:
// no operation that may act at any time allowed by its call, its return and its outcome ends
// the lease within the must-hold interval, and none prolongs it past the may-hold interval.
//
// Operations are applied in the order of their calls, with their outcomes, and their returns
// in the order of these. The package knows of one grant at a time: what others do to it, and
// what it does to others, is the checker's, as are conditions and verdicts.
//
// Stamps and leases of single operations (stamp.go, lease.go) know nothing of grants. Package
// crosscheck shares them, and derives the must-hold intervals a second time from them alone.
//
// [Standstills] are the times in which the process that drives the clients, or a server, stood
// still: events of a history tell them ([Standstills.Add]), and gaps in it show them ([Gaps]).
package interval
