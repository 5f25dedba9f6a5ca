package mutants

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A Mutant is a lock with one fault.
type Mutant struct {
	Name string
	// Seen names the source of the fault: products and versions with the row in the project's list
	// of real lock bugs, or a document.
	Seen string
	// Mechanism describes the fault in one sentence.
	Mechanism string
	// Breaks are the cells that an exploration with the settings below finds broken. There may be
	// more.
	Breaks []lockbench.Cell
	// Scenario is the program of the clients; empty is the default of package explore.
	Scenario string
	// Threads is the number of owners in one process, and TTL the requested lease; zero is the
	// default of package explore.
	Threads int
	TTL     time.Duration

	abilities // in addition to the abilities of every lock here
	change    func(*parts)
}

// Design returns the mutant as a design that can be run like any other.
func (m Mutant) Design() design.Design {
	a := sound(m.abilities)
	m.change(&a)
	return a.design(m.Name, m.Mechanism, m.Seen)
}

// Mutants returns all mutants, always in the same order.
func Mutants() []Mutant {
	return slices.Concat(takingMutants, namingMutants, waitingMutants, countingMutants, releasingMutants, extendingMutants, renewingMutants, nestingMutants)
}

// source is the source of the locks without a fault.
const source = "redis.io, distributed locks with a single instance; fences by Kleppmann (2016)"

// Sound returns locks without a fault: a lock that reports a loss when asked; a variant of it that
// gives back grants that came late; a lock that reports a loss by itself; and variants of the
// latter with nested acquires, with renewals, and with both.
func Sound() []design.Design {
	drifting := sound(abilities{})
	drifting.take = takeInTime
	return []design.Design{
		sound(abilities{}).design("bare", "SET NX PX of a random token and a fence in one script, all else by scripts that compare the token", source),
		drifting.design("drifting", "bare; a grant that came when its lease, less a drift of clocks, was over is given back, with an error", "redis.io, the Redlock algorithm (MIN_VALIDITY), on one server"),
		sound(abilities{notices: true}).design("sound", "bare, and a notice when the lease is over", source),
		sound(abilities{notices: true, nested: true}).design("nested", "sound, and nested acquires count in the owner's memory", source),
		sound(abilities{notices: true, renews: true}).design("renewing", "sound, and each hold is renewed every third of its lease", source),
		sound(abilities{notices: true, nested: true, renews: true}).design("full", "sound, nested acquires count and holds are renewed", source),
	}
}

// Watched returns a lock without a fault that renews each hold, and reports a loss only when asked.
// A standstill of all clients that outlasts its lease ends a hold while the owner works on, so it
// is none of the locks of [Sound]. It gives back a grant that came when its lease was over, since it
// would not renew that one.
func Watched() design.Design {
	a := sound(watched)
	a.take = takeInTime
	return a.design("watched", "bare, and each hold is renewed every third of its lease", source)
}
