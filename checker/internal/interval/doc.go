// Package interval computes how long one grant of a key lasts, as far as the operations of its
// owner show. A [Grant] has two intervals:
//
//   - The must-hold interval: the owner certainly holds the key, by any explanation of the history.
//     It is a union of segments; a Grant keeps the newest. Doubt shortens it.
//   - The may-hold interval: the server may keep the key from other clients because of the
//     grant. Doubt prolongs it.
//
// docs/design/model.md proves that the operations on a key can be explained if and only if no two
// must-hold intervals of different owners share an instant ([Conflict]), and that a key outside all
// may-hold intervals is free. So each method here must keep two invariants. An operation acts at
// any time that its call, its return and its outcome allow; whenever that is, the lease does not
// end within the must-hold interval, and does not last beyond the may-hold interval.
//
// Operations are applied in the order of their calls, with their outcomes; returns are applied in
// the order of returns. The package knows one grant at a time: its relations to other grants,
// conditions and verdicts are the checker's.
//
// Stamps and leases of single operations (stamp.go, lease.go) do not depend on grants. Package
// crosscheck shares them, and derives the must-hold intervals a second time from them alone.
//
// [Standstills] are the times in which the process that drives the clients, or a server, stood
// still. Events of the history ([Standstills.Add]) and gaps in it ([Gaps]) show them.
package interval
