// Package limits searches for the boundary between values at which a property holds and
// values at which it fails: the highest rate that a lock takes, the shortest lease that
// no work outlives. The caller makes the trials.
package limits
