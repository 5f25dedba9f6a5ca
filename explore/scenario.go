package explore

import (
	"context"

	"github.com/lockbench/lockbench"
)

// A Scenario is what the clients of a schedule do. It is plain data but for Run,
// which is called once per client and may be called for many schedules.
type Scenario struct {
	Name    string
	Summary string
	// Keys is the number of locks; 0 is one.
	Keys int
	// Needs says which ability a lease must have: "extend", "delay", "nest"; a
	// lock without it is told to be so and not explored.
	Needs []string
	// Waits: acquires wait by default, for half a lease but a second at least.
	Waits bool
	// OnRequest: explored only when named, not among all scenarios.
	OnRequest bool
	// Again: a call that got no answer is made once more, and the two are one.
	Again bool
	// Exercises is what it puts to the test with two clients or more, beside what
	// faults and moves of time do.
	Exercises []lockbench.Cell
	// Run is one client's part. It returns when the client is done; errors of the
	// lock are in the record and no reason to fail.
	Run func(ctx context.Context, a *Actor)
}

// An Actor is one client in a scenario, for one schedule.
type Actor struct {
	// ID counts from 0; Clients is how many there are.
	ID, Clients int
	// Rounds is how often to go through the scenario.
	Rounds int
	// Keys are the locks, at least one.
	Keys []string
	// Locker is the lock under test, recorded.
	Locker lockbench.Locker
	// Options are those to acquire with.
	Options lockbench.Options
	// Store keeps guarded records (in memory, each access a step of the schedule).
	Store lockbench.Store
	// Step is a scheduling point of the client's own: it returns when the
	// scheduler picks the client. What the client calls right after it is stamped
	// as late as that, so a hold lasts as long as it can. It is to be called before
	// each operation on a lease.
	Step func(what string)

	writes uint64 // made so far: they number the versions
	rests  int    // made so far: they keep timers apart
}
