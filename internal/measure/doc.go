// Package measure computes the speed of a lock: latencies, grants per second,
// and attempts and server commands per grant. It uses only the events of a
// history, so that a saved run gives the same figures as the run itself.
package measure
