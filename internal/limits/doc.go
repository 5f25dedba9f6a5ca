// Package limits searches for the value at which something that holds on one side of it
// and fails on the other turns over: the highest rate that a lock takes, the shortest
// lease that no work outlives. It drives nothing itself: the caller makes the trials.
package limits
