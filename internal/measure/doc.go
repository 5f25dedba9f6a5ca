// Package measure is how fast a lock was while it was judged: latencies, grants
// per second, attempts and server commands per grant, all from the events of a
// history, so that a saved run shows the figures of the run itself.
package measure
