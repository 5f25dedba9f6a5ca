package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// A Config says what to explore. The zero value of every field but Design means
// its default. The list is flat because it is the user's: each field is a flag, or a line in
// the header of a replay file.
type Config struct {
	// Design is the lock under test.
	Design design.Design
	// Scenario names what the clients do (see [workloads.By]); default "contend".
	Scenario string
	// Clients is the number of owners; default 2.
	Clients int
	// Threads is how many of them share a process, and with it whatever the
	// design keeps per process; default 1.
	Threads int
	// Pool is the most connections a process may open; zero leaves it to the
	// design.
	Pool int
	// Rounds is how often each client goes through the program; default 2.
	Rounds int
	// TTL is the lease asked for; default 2 s. Wait is how long an acquire may
	// wait; default 0, one try, except in programs that are about waiting.
	TTL, Wait time.Duration
	// Faults is how many faults may occur in one schedule, -1 none; default 1.
	Faults int
	// Kinds are the faults to choose from; default DefaultKinds.
	Kinds []FaultKind
	// Moves is how often, while a command could run instead, time may pass to
	// just before or just after the end of a lease, -1 never; default 2, never two
	// in a row.
	Moves int
	// Skew is how far the clocks of clients are off the server's under a skew
	// fault; default 1 s more than the design says it tolerates.
	Skew time.Duration
	// Strategy is how schedules are chosen; default Auto.
	Strategy Strategy
	// Budget bounds the time spent, Schedules the number of schedules; zero is no
	// bound. With neither, Budget is 30 s.
	Budget    time.Duration
	Schedules int64
	// Seed decides every random choice, those of the lock included.
	Seed uint64
	// GlobalRand seeds math/rand before each schedule too, for lock code that draws
	// from it past its environment; it counts under GODEBUG=randseednop=0 only.
	// crypto/rand is always seeded.
	GlobalRand bool
	// NoReduction explores every interleaving, also those that partial-order
	// reduction shows to be equal to one explored already. For measurements.
	NoReduction bool
}

// A Strategy is a way of choosing schedules.
type Strategy string

// The strategies.
const (
	// Auto is Exhaustive for as long as half the budget lasts, and Random after.
	Auto Strategy = "auto"
	// Exhaustive goes depth first through all schedules within the budgets of
	// faults and moves, leaving out those equal to one already seen.
	Exhaustive Strategy = "exhaustive"
	// Random draws each step anew.
	Random Strategy = "random"
	// PCT gives clients random priorities that change at few random points
	// (Burckhardt et al., ASPLOS 2010).
	PCT Strategy = "pct"
)

// A FaultKind is something that goes wrong at a chosen step of a schedule.
type FaultKind string

// The kinds. A client's fault occurs where its next command is pending.
const (
	// DieBefore ends a client before its command runs, DieAfter after it ran:
	// nothing of the client happens or is recorded from then on. The process lives
	// on when other clients share it.
	DieBefore FaultKind = "die-before"
	DieAfter  FaultKind = "die-after"
	// Pause lets a client stand still at its command until past its lease.
	Pause FaultKind = "pause"
	// LostReply runs the command and breaks the connection instead of answering.
	LostReply FaultKind = "lost-reply"
	// SlowReply runs the command; the answer is on its way until the scheduler lets it
	// arrive, which is a step of its own.
	SlowReply FaultKind = "slow-reply"
	// Cut breaks the connection; the command does not run.
	Cut FaultKind = "cut"
	// Cancel ends the context of the client's call, at its own wait, between two
	// commands or, with a read time-out, while its command is under way.
	Cancel FaultKind = "cancel"
	// Skew sets the clock of the client's process off the server's by +-Config.Skew
	// from the start of the schedule.
	Skew FaultKind = "skew"
	// ScriptFlush empties the server's script cache.
	ScriptFlush FaultKind = "script-flush"
	// Restart empties the server and breaks all connections.
	Restart FaultKind = "restart"
)

// FaultKinds lists every kind of fault.
func FaultKinds() []FaultKind {
	return []FaultKind{DieBefore, DieAfter, Pause, LostReply, SlowReply, Cut, Cancel, Skew, ScriptFlush, Restart}
}

// DefaultKinds are the faults explored unless told otherwise: those that a lease
// lock on one server is expected to live with, or to show its documented limits
// under. SlowReply is none of them: a pause before the next command shows most of what
// it does, and only locks that keep something in memory by what they are answered
// can tell the two apart.
func DefaultKinds() []FaultKind {
	return slices.DeleteFunc(FaultKinds(), func(k FaultKind) bool { return k == SlowReply })
}
