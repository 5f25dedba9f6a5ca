// Package crosscheck is the second opinion of the checker on exclusion. It derives the
// must-hold intervals of one key from its operations, and says whether two owners held the
// key at once: by the definition, and by porcupine's search for a linearization.
//
// It is worth something only as long as it errs on its own. So it shares with the checker
// how single operations are read (stamps and leases of package interval), and never the
// derivation: the checker goes through all keys in the order of time and keeps what is open, this
// package sees the whole history of a key at once and goes through it hold by hold. Nothing here may
// import the checker, or use more of package interval, in which the checker computes must-hold
// intervals; a test of internal/architecture reads which names are used. Speed is not asked for.
// docs/design/model.md has the definition that both follow.
package crosscheck
