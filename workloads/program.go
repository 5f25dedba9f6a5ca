package workloads

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// A Program is a client's use of a lock, round after round. It consists of plain data and of
// functions without state, so that many clients may run one at a time.
type Program struct {
	// Name is stable; Summary describes a client's work in one sentence.
	Name, Summary string
	// Drivers can run the program. A live run of a program of your own ignores it.
	Drivers Drivers
	// Needs lists the abilities without which the program shows nothing.
	Needs []Ability
	// Keys is how many locks the clients take; 0 is one.
	Keys int
	// KeyNames are the names of the keys; nil gives names without a meaning.
	KeyNames []string
	// Lease is the lease of a live run that asks for none; 0 is that of [Defaults]. Programs with
	// rounds of several leases have a short one, so that a run has many rounds.
	Lease time.Duration
	// Exercises lists the cells tested when clients meet on a key and nothing goes wrong, see
	// [Contended]. [Program.Cells] has the cells of a run.
	Exercises []lockbench.Cell
	// Adjust sets the options that the program fixes, before defaults are filled in; nil fixes
	// none. See [Program.Options].
	Adjust func(Options) Options
	// Stock returns the initial value of every guarded record; nil is zero.
	Stock func(Options) int64
	// Business sums up a live run, in figures of the program's own; nil if it counts nothing. Their
	// names are stable: thresholds refer to them. The figures of shares of a run add up.
	Business func(Books) map[string]int64
	// Says returns the sentence of the figures of Business.
	Says func(figures map[string]int64) string
	// Timetable programs decide themselves when a round begins, so they take no rate.
	Timetable bool
	// Exploration has the settings for explorations.
	Exploration Exploration
	// Step is one round of one client, without the choice before and the pause after it. The lock's
	// answers are data: an error means only that an operation failed or got no answer.
	Step func(context.Context, *Client) error
	// Atomic replaces Step in runs without a lock: it does the business in one request to the
	// store. Nil if there is no such request.
	Atomic func(context.Context, *Client) error
	// Part replaces Step in programs with different rounds: it is all rounds of one client. A live
	// run makes two of them at a time, if the program is for live runs.
	Part func(ctx context.Context, c *Client, rounds int)
}

// Exploration has the settings of a [Program] for explorations.
type Exploration struct {
	// Wait is the default of how long acquires wait, in leases and at least a second; zero is one
	// try.
	Wait float64
	// OnRequest programs are explored only by name, not among all programs.
	OnRequest bool
	// Again makes clients repeat a call that got no answer; both calls count as one.
	Again bool
	// Succeeds makes the last client's process a successor of the first client's: it has the same
	// name, and begins when that process has died. Clients have processes of their own.
	Succeeds bool
	// Clients is the least number of clients that shows something; 0 is any.
	Clients int
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

// noun is the users' word for a program of this driver.
func (d Drivers) noun() string {
	if d == Explored {
		return "scenario"
	}
	return "workload"
}

// An Ability is a property that a program needs of a lock or of its store.
type Ability string

// The abilities.
const (
	Extends  Ability = "extend"                     // leases are Extenders
	Delays   Ability = "delay"                      // leases are DelayedReleasers
	Nests    Ability = "nest"                       // the holder may acquire again
	Renews   Ability = "renew"                      // it renews its leases by itself
	AnyLease Ability = "grant leases of any length" // not only multiples of a unit
	AnyKey   Ability = "take keys of any name"      // a key may have any bytes
	HasStore Ability = "store"                      // there are records that the lock guards
)

// By lists the programs of a driver, in the order in which they are shown.
func By(d Drivers) []Program {
	return slices.DeleteFunc(All(), func(p Program) bool { return p.Drivers&d == 0 })
}

// Find returns the named program of a driver; the error lists near matches.
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

// Must returns the named program of any driver. It panics if there is none.
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

// Options returns o adjusted for a live run of p, with defaults filled in. The error says why they
// are not valid.
func (p Program) Options(o Options) (Options, error) {
	o = p.Fill(o)
	if p.Step == nil && (p.Part == nil || p.Drivers&Live == 0) {
		return o, fmt.Errorf("program %s has no round that a live run could repeat; hint: explore runs it", p.Name)
	}
	if !p.needs(HasStore) && o.Guard != "" && o.Guard != lockbench.NoGuard {
		return o, fmt.Errorf("guard %s: workload %s writes nothing that a store could guard; hint: workload oversell or redeem", o.Guard, p.Name)
	}
	if p.Timetable && o.OpenLoop() {
		return o, fmt.Errorf("%s: workload %s has a timetable of its own; hint: leave the rate out, or workload mutex", o.offer(), p.Name)
	}
	if p.Part != nil && o.keyGroups() > 1 {
		return o, fmt.Errorf("groups %d: all clients of workload %s take the same keys; hint: one group, shared keys, or workload mutex", o.Groups, p.Name)
	}
	return o, o.validate()
}

// Fill returns o adjusted for p, with defaults filled in and not validated.
func (p Program) Fill(o Options) Options {
	if p.Adjust != nil {
		o = p.Adjust(o)
	}
	return o.OrDefaults()
}

// offer names the options that make o an open loop.
func (o *Options) offer() string {
	if len(o.Stages) > 0 {
		return "stages " + o.Stages.String()
	}
	return "rate " + strconv.FormatFloat(o.Rate, 'f', -1, 64)
}

// Contended returns the cells that clients exercise by trying keys that others hold, and more.
func Contended(more ...lockbench.Cell) []lockbench.Cell {
	return append([]lockbench.Cell{lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0)}, more...)
}

// outlived returns the cells that clients exercise by working past their leases while others get
// in.
func outlived() []lockbench.Cell {
	return []lockbench.Cell{
		lockbench.Exclusion.At(lockbench.Outlived), lockbench.OwnerRelease.At(lockbench.Outlived), lockbench.LossReported.At(lockbench.Outlived),
	}
}

// Cells returns the cells that p can test without faults under these options. Their defaults must
// be filled in.
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
