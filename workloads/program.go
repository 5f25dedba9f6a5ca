package workloads

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// A Program is one thing that each client does with a lock, round after round. It is plain
// data and functions without state: many clients may run one at a time.
type Program struct {
	// Name is stable; Summary says in one sentence what a client does.
	Name, Summary string
	// Drivers are those that can run it. A live run of a program of your own does not ask.
	Drivers Drivers
	// Needs are the abilities without which it has nothing to show.
	Needs []Ability
	// Keys is how many locks a client takes at once; 0 is one.
	Keys int
	// Exercises is what it puts to the test where clients meet on a key and nothing goes
	// wrong, see [Contended]. [Program.Cells] has the cells of a run.
	Exercises []lockbench.Cell
	// Adjust sets the options that the program leaves no choice about, before defaults
	// are filled in; nil is none. See [Program.Options].
	Adjust func(Options) Options
	// Stock returns the value that every guarded record has at first; nil is zero.
	Stock func(Options) int64
	// Business says what a live run came to in the program's own words; nil where it has
	// nothing to count. Its names of figures are stable: thresholds are on them.
	Business func(Books) Business
	// Timetable: when a round begins is the program's own matter, so that there can be
	// no rate.
	Timetable bool
	// Exploration is what only explorations ask for.
	Exploration Exploration
	// Step is one round of one client, without the choice before and the pause after it.
	// What the lock answers is data: the error says only that an operation failed or got
	// no answer.
	Step func(context.Context, *Client) error
	// Atomic is Step without a lock: one request to the store does it. Nil where there is no
	// such request.
	Atomic func(context.Context, *Client) error
	// Part, in place of Step, is all that one client does in so many rounds, where they
	// differ. A live run, which has no last round, needs a Step.
	Part func(ctx context.Context, c *Client, rounds int)
}

// Exploration is what a [Program] asks of explorations.
type Exploration struct {
	// Wait is for how many leases acquires wait by default, for a second at least; zero is one try.
	Wait float64
	// OnRequest: explored only when named, not among all programs.
	OnRequest bool
	// KeyNames are the names of the program's keys; nil are those of no meaning.
	KeyNames []string
	// Again: a call that got no answer is made once more, and the two are one.
	Again bool
}

// Drivers is a set of drivers.
type Drivers uint8

// The drivers.
const (
	Live     Drivers = 1 << iota // lockbench run
	Explored                     // lockbench explore
	Tested                       // locktest, in real time
)

// String names the drivers of the set as users call them: "run, explore, locktest".
func (d Drivers) String() string {
	text := ""
	for i, name := range []string{"run", "explore", "locktest"} {
		if d&(1<<i) == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += name
	}
	return text
}

// noun is what users call a program of this driver.
func (d Drivers) noun() string {
	if d == Explored {
		return "scenario"
	}
	return "workload"
}

// An Ability is what a program needs of a lock, or of what stands beside it.
type Ability string

// The abilities.
const (
	Extends  Ability = "extend"                     // leases are Extenders
	Delays   Ability = "delay"                      // leases are DelayedReleasers
	Nests    Ability = "nest"                       // the holder may acquire again
	Renews   Ability = "renew"                      // it renews its leases by itself
	AnyLease Ability = "grant leases of any length" // others than whole numbers of a unit
	AnyKey   Ability = "take keys of any name"      // whatever bytes it has
	HasStore Ability = "store"                      // there are records that the lock guards
)

// By lists the programs of a driver, in the order in which they are shown.
func By(d Drivers) []Program {
	return slices.DeleteFunc(All(), func(p Program) bool { return p.Drivers&d == 0 })
}

// Find returns the program of that name among those of a driver; the error lists near
// matches.
func Find(d Drivers, name string) (Program, error) {
	var names []string
	for _, p := range By(d) {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Program{}, suggest.Unknown(d.noun(), name, names)
}

// Must returns the program of that name, whatever its drivers. It panics if there is none.
func Must(name string) Program {
	all := All()
	i := slices.IndexFunc(all, func(p Program) bool { return p.Name == name })
	if i < 0 {
		panic("workloads: no program is called " + strconv.Quote(name))
	}
	return all[i]
}

// needs reports whether p needs an ability.
func (p *Program) needs(a Ability) bool { return slices.Contains(p.Needs, a) }

// Options returns o as a live run of p has it: adjusted, defaults filled in, and valid when
// the error is nil.
func (p Program) Options(o Options) (Options, error) {
	o = p.Fill(o)
	if p.Step == nil {
		return o, fmt.Errorf("program %s has no round that a live run could repeat; hint: explore runs it", p.Name)
	}
	if !p.needs(HasStore) && o.Guard != "" && o.Guard != lockbench.NoGuard {
		return o, fmt.Errorf("guard %s: workload %s writes nothing that a store could guard; hint: workload oversell or redeem", o.Guard, p.Name)
	}
	if p.Timetable && o.OpenLoop() {
		return o, fmt.Errorf("%s: workload %s has a timetable of its own; hint: leave the rate out, or workload mutex", o.offer(), p.Name)
	}
	return o, o.validate()
}

// Fill returns o as p asks for it, defaults filled in, valid or not.
func (p Program) Fill(o Options) Options {
	if p.Adjust != nil {
		o = p.Adjust(o)
	}
	return o.OrDefaults()
}

// offer names what makes o an open loop.
func (o *Options) offer() string {
	if len(o.Stages) > 0 {
		return "stages " + o.Stages.String()
	}
	return "rate " + strconv.FormatFloat(o.Rate, 'f', -1, 64)
}

// Contended is what a program exercises whose clients try keys that others hold, and more.
func Contended(more ...lockbench.Cell) []lockbench.Cell {
	return append([]lockbench.Cell{lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0)}, more...)
}

// outlived is what clients exercise that work past their leases while others get in.
func outlived() []lockbench.Cell {
	return []lockbench.Cell{
		lockbench.Exclusion.At(lockbench.Outlived), lockbench.OwnerRelease.At(lockbench.Outlived), lockbench.LossReported.At(lockbench.Outlived),
	}
}

// Cells returns the cells that p can put to the test with these options, which have their
// defaults filled in, and without faults: those worth a verdict.
func (p Program) Cells(o Options) []lockbench.Cell {
	found := []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0), lockbench.Fencing.At(0)}
	for _, cell := range p.Exercises {
		if o.contended() && (cell.Guarantee != lockbench.Reentrancy || o.Depth > 1) {
			found = append(found, cell)
		}
	}
	if (o.contended() || o.Stallers > 1) && o.overruns() && slices.Contains(p.Exercises, lockbench.Exclusion.At(0)) {
		found = append(found, outlived()...)
	}
	return found
}
