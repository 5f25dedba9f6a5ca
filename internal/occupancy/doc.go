// Package occupancy sees, beside the lock under test and in memory, whether two owners are
// inside the critical section of one key. It shares no code with package checker and
// contradicts it: what it sees and the checker does not is a defect of lockbench. Live
// runs (package load) and real-time tests (package locktest) have one.
package occupancy
