package main

import (
	"os"
	"runtime"

	"github.com/lockbench/lockbench/internal/servers"
)

// leaveCore keeps clients off one core while they load a server of this machine,
// which needs one to itself: a scheduler that spreads fifty clients over both of
// two cores only takes turns with the server, and gets a fifth less done. The
// function it returns gives the core back. GOMAXPROCS, where it is set, is left to
// have its way.
func leaveCore(s *servers.Server) (giveBack func()) {
	cores := runtime.GOMAXPROCS(0)
	if cores == 1 || !s.Local() || os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(cores - 1)
	return func() { runtime.GOMAXPROCS(cores) }
}
