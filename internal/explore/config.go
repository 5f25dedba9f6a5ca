package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
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
	// Retries is how often the lock's own clients send a command again whose connection broke, at once; zero is
	// never.
	Retries int
	// Rounds is how often each client goes through the program; default 2.
	Rounds int
	// TTL is the lease asked for; default 2 s. Wait is how long an acquire may
	// wait; default 0, one try, except in programs that are about waiting.
	TTL, Wait time.Duration
	// Faults is how many faults may occur in one schedule, -1 none; default 1.
	Faults int
	// Kinds are the faults to choose from, by the names that lockbench explore --kinds
	// has; default DefaultKinds.
	Kinds []fault.Kind
	// Moves is how often, while a command could run instead, time may pass to
	// just before or just after the end of a lease, -1 never; default 2, never two
	// in a row.
	Moves int
	// Skew is how far the clocks of clients are off the server's under a skew
	// fault; default 1 s more than the design says it tolerates.
	Skew time.Duration
	// Guard is how the records that programs write are guarded; default not at all.
	Guard lockbench.Guard
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

// DefaultKinds are the faults explored unless told otherwise: those that a lease
// lock on one server is expected to live with, or to show its documented limits
// under.
func DefaultKinds() []fault.Kind {
	return slices.DeleteFunc(fault.Explored(), func(k fault.Kind) bool { return fault.Of(k).OnRequest })
}
