// Package clockwatch records what relates the stamps of a machine's history to a clock that all machines of a run
// know.
//
// A [Watcher] reads the clocks of the machine each millisecond, and records a window of package clocks for each
// tenth of a second at most. Every 20 ms it asks for the common clock, one question at a time, and records the
// answer. The last question is sent when the clients have stopped, so that the clock is known for all that they did.
package clockwatch
