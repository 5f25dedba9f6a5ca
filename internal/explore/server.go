package explore

import (
	"net"
	"time"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// A server is the interface of a lock server for schedules: every command stops
// until it is chosen. Another type may replace *stepserver.Server if it describes
// commands and their effects alike; that type documents the guarantees of each
// method. Clients call Dial and AttributeGoroutine; only the bubble's root calls the
// other methods.
type server interface {
	setup
	runner
	breaker
}

// A setup prepares schedules, one after the other.
type setup interface {
	Reset()
	KeepScripts()
	Dial(process int) (net.Conn, error)
	Attribute(process, client int)
	AttributeGoroutine(process, client int)
	Retire()
	Executed(func(*stepserver.Command, stepserver.Effect))
	Close()
}

// A runner runs waiting commands.
type runner interface {
	Arrived() <-chan struct{}
	Pending() []*stepserver.Command
	Blocked() []*stepserver.Command
	Ends([]time.Time) []time.Time
	Has(part string) bool
	Lacks() []string
	Run(*stepserver.Command) stepserver.Effect
}

// A breaker injects faults.
type breaker interface {
	RunLosing(*stepserver.Command) stepserver.Effect
	RunUnanswered(*stepserver.Command) stepserver.Effect
	RunSlow(*stepserver.Command) stepserver.Effect
	Cut(*stepserver.Command)
	Timeout(*stepserver.Command)
	Kill(process int)
	KillClient(process, client int)
	ScriptFlush()
	Restart()
}
