package workloads

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// A Workload is one thing that clients do with a lock, over and over.
type Workload struct {
	// Name is stable; Summary says in one sentence what a client does.
	Name, Summary string
	// Adjust sets the options that the workload leaves no choice about, before
	// defaults are filled in; nil is none. See [Workload.Options].
	Adjust func(Options) Options
	// Exercises returns the cells that the workload can put to the test with these
	// options and without faults: those worth a verdict.
	Exercises func(Options) []lockbench.Cell
	// Prepare writes what the clients find in the store; nil is nothing.
	Prepare func(context.Context, lockbench.Store, Options) error
	// Timetable: when an iteration begins is the workload's own matter, so that there
	// can be no rate.
	Timetable bool
	// Step is one iteration of one client, without the choice before and the
	// pause after it. What the lock answers is data: the error says only that
	// an operation failed or got no answer.
	Step func(context.Context, *Client) error
}

// All lists the workloads in the order in which they are shown.
func All() []Workload {
	return []Workload{Mutex(), Oversell(), Redeem(), Cron(), SlowStep(), Reentrant()}
}

// Names lists the workloads' names.
func Names() []string {
	var names []string
	for _, w := range All() {
		names = append(names, w.Name)
	}
	return names
}

// Find returns the workload of that name; the error lists near matches.
func Find(name string) (Workload, error) {
	for _, w := range All() {
		if w.Name == name {
			return w, nil
		}
	}
	return Workload{}, suggest.Unknown("workload", name, Names())
}

// Options returns o as this workload runs it: adjusted, defaults filled in, and
// valid when the error is nil.
func (w Workload) Options(o Options) (Options, error) {
	if w.Adjust != nil {
		o = w.Adjust(o)
	}
	o = o.OrDefaults()
	if w.Prepare == nil && o.Guard != "" && o.Guard != lockbench.NoGuard {
		return o, fmt.Errorf("guard %s: workload %s writes nothing that a store could guard; hint: workload oversell or redeem", o.Guard, w.Name)
	}
	if w.Timetable && o.OpenLoop() {
		return o, fmt.Errorf("%s: workload %s has a timetable of its own; hint: leave the rate out, or workload mutex", o.offer(), w.Name)
	}
	return o, o.Validate()
}

// offer names what makes o an open loop.
func (o *Options) offer() string {
	if len(o.Stages) > 0 {
		return "stages " + o.Stages.String()
	}
	return "rate " + strconv.FormatFloat(o.Rate, 'f', -1, 64)
}

// LockExercises is what locking and releasing alone can put to the test.
func LockExercises(o Options) []lockbench.Cell {
	found := []lockbench.Cell{lockbench.NoSpuriousRefusal.At(0), lockbench.Fencing.At(0)}
	if !o.contended() {
		return found
	}
	found = append(found, lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0))
	if o.overruns() {
		for _, g := range []lockbench.Guarantee{lockbench.Exclusion, lockbench.OwnerRelease, lockbench.LossReported} {
			found = append(found, g.At(lockbench.Outlived))
		}
	}
	return found
}

// StoreExercises adds Effects to what a workload that writes under its lock exercises.
func StoreExercises(o Options) []lockbench.Cell {
	found := LockExercises(o)
	if o.contended() {
		found = append(found, lockbench.Effects.At(0))
	}
	return found
}

// PrepareEach writes value under every key, with versions below all clients'.
func PrepareEach(ctx context.Context, store lockbench.Store, keys int, value int64) error {
	for i, key := range KeyNames(keys) {
		rec := lockbench.Record{Value: value, Version: uint64(i + 1)}
		if err := store.Write(ctx, key, rec); err != nil {
			return err
		}
	}
	return nil
}
