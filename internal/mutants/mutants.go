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
	// Seen says where: products and versions with the row of the project's list of
	// real lock bugs, or a document.
	Seen string
	// Mechanism says in one sentence what goes wrong, and when.
	Mechanism string
	// Breaks are the cells that exploring it with the settings below shows to be broken,
	// at least.
	Breaks []lockbench.Cell
	// Scenario is what its clients do; empty is explore's default.
	Scenario string
	// Threads is how many owners share a process, TTL the lease asked for; zero is
	// explore's default.
	Threads int
	TTL     time.Duration

	abilities // beside those that every lock here has
	change    func(*parts)
}

// Design returns the mutant as an entry that can be run like any other.
func (m Mutant) Design() design.Design {
	a := sound(m.abilities)
	m.change(&a)
	return a.design(m.Name, m.Mechanism, m.Seen)
}

// Mutants returns all mutants, always in the same order.
func Mutants() []Mutant {
	return slices.Concat(takingMutants, waitingMutants, countingMutants, releasingMutants, extendingMutants, renewingMutants, nestingMutants)
}

// Sound returns the locks without a fault: one that reports a loss when it is
// asked, one that reports it at once, and that with nested acquires, with renewals and
// with both.
func Sound() []design.Design {
	const source = "redis.io, distributed locks with a single instance; fences by Kleppmann (2016)"
	return []design.Design{
		sound(abilities{}).design("bare", "SET NX PX of a random token and a fence in one script, all else by scripts that compare the token", source),
		sound(abilities{notices: true}).design("sound", "bare, and a notice when the lease is over", source),
		sound(abilities{notices: true, nested: true}).design("nested", "sound, and nested acquires count in the owner's memory", source),
		sound(abilities{notices: true, renews: true}).design("renewing", "sound, and each hold is renewed every third of its lease", source),
		sound(abilities{notices: true, nested: true, renews: true}).design("full", "sound, nested acquires count and holds are renewed", source),
	}
}
