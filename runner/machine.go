package runner

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/lockbench/lockbench/impls/design"
)

// Values of GOGC: the garbage, in percent of the live heap, at which a collection begins.
const (
	// betweenRuns is the value in [Run]. The heap of a session is a few megabytes, so that with the
	// default the collector would run dozens of times a second beside the clients.
	betweenRuns = 400
	// whileJudging is the value in [Judge], which makes much garbage and keeps little, so it trades
	// memory for time.
	whileJudging = 600
)

// collectAt sets the percentage of garbage collection until asBefore is called. It does
// nothing if the user set GOGC.
func collectAt(percent int) (asBefore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// leaveCore keeps clients off one core while they load a server on this machine, which needs a
// core to itself: a scheduler that spreads fifty clients over both of two cores only takes
// turns with the server, and gets a fifth less done. The function it returns gives the core
// back. It does nothing if the user set GOMAXPROCS.
func leaveCore(s design.Service) (giveBack func()) {
	cores := runtime.GOMAXPROCS(0)
	neighbour, ok := s.(design.Neighbour)
	if cores == 1 || !ok || !neighbour.Local() || os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(cores - 1)
	return func() { runtime.GOMAXPROCS(cores) }
}
