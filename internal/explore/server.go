package explore

import (
	"net"
	"time"

	"github.com/lockbench/lockbench/internal/stepserver"
)

// A server is what schedules need of a lock server: one whose every command stops
// until it is chosen. Another kind than *stepserver.Server may take its place if it
// describes commands and their effects like that one, which says what each method
// guarantees. Clients call Dial and AttributeGoroutine; the rest is for the bubble's
// root.
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

// A runner runs what waits.
type runner interface {
	Arrived() <-chan struct{}
	Pending() []*stepserver.Command
	Blocked() []*stepserver.Command
	Ends([]time.Time) []time.Time
	Has(part string) bool
	Lacks() []string
	Run(*stepserver.Command) stepserver.Effect
}

// A breaker does what goes wrong.
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
