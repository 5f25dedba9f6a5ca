// Package occupancy detects, in memory and beside the lock under test, whether two owners
// are inside the critical section of one key. It shares no code with package checker and
// cross-checks it: an overlap that the checker does not find is a defect of lockbench.
// Live runs (package load) and real-time tests (package locktest) use it.
package occupancy
