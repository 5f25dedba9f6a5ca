// Package standstill detects times during which nothing could run: this process stood still,
// because the machine did or somebody stopped it, or a server did.
//
// A [Watcher] reads the clock repeatedly, a quarter of a bound (20 ms) apart. If a reading is
// later than the bound, goroutines of the process may not have run since the last reading in
// time: that is a standstill of the driver. The Watcher also sends a cheap request to each
// server, on a connection of its own. If the answer takes longer than the bound, and the driver
// stood still for less of that time, the server stood still, or the way to it.
//
// Each [Standstill] has two instants and is evidence that may excuse a lock. This package does
// not decide how. A caller records it in its history with [Record], as an event with its
// beginning and its length; the checker reads it there, so that a saved history is judged as
// the run was.
//
// A standstill is known only when it is over. So a reader of a growing history must not see
// events after the instant passed to [Config.Certain]; [Record] ensures that.
package standstill
