// Package crosscheck is the second opinion of the checker on exclusion. It derives the must-hold
// intervals of one key from its operations, and decides whether two owners held the key at once: by
// the definition, and by porcupine's search for a linearization.
//
// It is only useful as long as its errors are independent of the checker's. Both share the reading
// of single operations (stamps and leases of package interval), but not the derivation: the checker
// passes over all keys in the order of time, with state for what is open; this package sees the
// whole history of one key, and derives one hold after another. Nothing here may import the
// checker, or use more of package interval, in which the checker computes must-hold intervals; a
// test of internal/testkit/architecture lists the names that may be used. Speed does not matter.
// docs/design/model.md has the definition that both follow.
package crosscheck
