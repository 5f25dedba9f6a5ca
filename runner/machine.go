package runner

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/lockbench/lockbench/impls/design"
)

// How much garbage there may be before it is collected, in percent of what is in use.
const (
	// betweenRuns: a session keeps a few megabytes, so that the collector would run dozens
	// of times a second beside the clients.
	betweenRuns = 400
	// whileJudging: a judgement makes much garbage and keeps little, so that time is worth
	// more than memory.
	whileJudging = 600
)

// collectAt has garbage collected less often, until asBefore is called. GOGC, where it is set,
// is left to have its way.
func collectAt(percent int) (asBefore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// leaveCore keeps clients off one core while they load a server of this machine,
// which needs one to itself: a scheduler that spreads fifty clients over both of
// two cores only takes turns with the server, and gets a fifth less done. The
// function it returns gives the core back. GOMAXPROCS, where it is set, is left to
// have its way.
func leaveCore(s design.Service) (giveBack func()) {
	cores := runtime.GOMAXPROCS(0)
	neighbour, ok := s.(design.Neighbour)
	if cores == 1 || !ok || !neighbour.Local() || os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(cores - 1)
	return func() { runtime.GOMAXPROCS(cores) }
}
