// Package standstill notices times that nobody could use: this process stood still, because the
// machine did or somebody stopped it, or a server did.
//
// A [Watcher] looks at the clock again and again, a quarter of a bound (20 ms) apart. If it
// comes later than the bound, no goroutine of the process can be relied on to have run between
// its last look in time and this one: that is a standstill of the driver. It also asks a server
// for something cheap, on a connection of its own. If the answer takes longer than the bound,
// and the driver stood still for less of that time, the server did, or the way to it.
//
// Each is a [Standstill] with two instants: an excuse by evidence. How a lock may use it is
// not decided here. A caller records it in its history, by [Record], as an event that says
// when it began and how long it lasted; the checker reads it there, so that a saved history
// is judged as the run was.
//
// A standstill is known only when it is over. So a reader of a history that grows must not
// be shown what came after [Config.Certain]'s instant: [Record] sees to that.
package standstill
