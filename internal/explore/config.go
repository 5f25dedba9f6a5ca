package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

// A Config describes an exploration. The zero value of every field but Design means its default.
// The list is flat because it is the user's: each field is a flag, or a line in the header of a
// replay file.
type Config struct {
	// Design is the lock under test.
	Design design.Design
	// Scenario names the program of the clients (see [workloads.By]); default "contend".
	Scenario string
	// Clients is the number of owners; default 2.
	Clients int
	// Threads is the number of clients that share a process, and with it the design's state of a
	// process; default 1.
	Threads int
	// Pool is the most connections a process may open; zero is the design's own limit.
	Pool int
	// Retries is how often the lock's own clients send a command again, at once, after its
	// connection broke; zero is never.
	Retries int
	// Rounds is the number of rounds of each client; default 2.
	Rounds int
	// TTL is the requested lease; default 2 s. Wait is how long an acquire may wait; default 0, one
	// try, except in programs about waiting.
	TTL, Wait time.Duration
	// Faults is the most faults in one schedule, -1 none; default 1.
	Faults int
	// Kinds are the faults to choose from, by their names in lockbench explore --kinds; default
	// DefaultKinds.
	Kinds []fault.Kind
	// Moves is the most time moves in one schedule, -1 none; default 2. A time move lets time pass
	// to just before or just after the end of a lease although a command could run. Two never
	// follow each other.
	Moves int
	// Skew is the error of clients' clocks under a skew fault; default 1 s more than the design's
	// tolerance.
	Skew time.Duration
	// Guard is the guard of the records that programs write; default none.
	Guard lockbench.Guard
	// Strategy chooses the schedules; default Auto.
	Strategy Strategy
	// Budget bounds the time spent, Schedules the number of schedules; zero is no
	// bound. With neither, Budget is 30 s.
	Budget    time.Duration
	Schedules int64
	// Seed decides every random choice, even of the lock.
	Seed uint64
	// GlobalRand also seeds math/rand before each schedule, for lock code that uses it instead of
	// its environment; it has an effect only under GODEBUG=randseednop=0. crypto/rand is always
	// seeded.
	GlobalRand bool
	// NoReduction explores every interleaving, even if partial-order reduction shows that it equals
	// an explored one. For measurements.
	NoReduction bool
}

// A Strategy is a way of choosing schedules.
type Strategy string

// The strategies.
const (
	// Auto is Exhaustive for half of the budget, and then Random.
	Auto Strategy = "auto"
	// Exhaustive goes depth first through all schedules within the budgets of faults and moves,
	// except those equal to an earlier one.
	Exhaustive Strategy = "exhaustive"
	// Random draws each step anew.
	Random Strategy = "random"
	// PCT gives clients random priorities that change at few random points
	// (Burckhardt et al., ASPLOS 2010).
	PCT Strategy = "pct"
)

// DefaultKinds are the faults explored by default: a lease lock on one server should survive them,
// or show its documented limits under them.
func DefaultKinds() []fault.Kind {
	return slices.DeleteFunc(fault.Explored(), func(k fault.Kind) bool { return fault.Of(k).OnRequest })
}
