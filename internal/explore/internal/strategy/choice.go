package strategy

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// A Verb is what one step of a schedule does.
type Verb uint8

// The verbs.
const (
	VerbRun               Verb = iota // the actor goes on to its next command, which runs
	VerbWait                          // nobody can go on: time passes until somebody can
	VerbMove                          // time passes, and what is pending now comes later
	VerbBegin                         // the schedule begins with the clocks as they are
	VerbSkew                          // a process's clock is off from the start
	VerbDieBefore                     // the actor dies, its command does not run
	VerbDieAfter                      // the command runs, then the actor dies
	VerbPause                         // the actor stands still until past its lease
	VerbLoseReply                     // the command runs, the connection breaks instead of an answer
	VerbSlowReply                     // the command runs, the answer arrives when it is run once more
	VerbCut                           // the connection breaks, the command does not run
	VerbCancel                        // the context of the actor's call ends
	VerbTimeOut                       // so it does, and the read; the command may run later
	VerbScriptFlush                   // the server forgets its scripts
	VerbRestart                       // the server restarts empty
	VerbStandstill                    // the actor sends its command, then all processes stand still; what was sent runs, and is answered afterwards
	VerbServerStandstill              // the server stands still, and clients go on up to their next command
	VerbMachineStandstill             // all processes and the server stand still
	VerbStop                          // the schedule ends here; only a replay asks for it
)

// verbs describe the verbs: the name that replay files have for each, the fault that it is,
// and who does it where no client does.
var verbs = [...]struct {
	name  string
	fault fault.Kind // empty when it is none
	by    string     // empty: a client
}{
	VerbRun:               {name: "run"},
	VerbWait:              {name: "wait", by: ByTime},
	VerbMove:              {name: "at", by: ByTime},
	VerbBegin:             {name: "begin", by: ByTime},
	VerbSkew:              {name: "skew", fault: fault.Skew},
	VerbDieBefore:         {name: "die-before", fault: fault.DieBefore},
	VerbDieAfter:          {name: "die-after", fault: fault.DieAfter},
	VerbPause:             {name: "pause", fault: fault.Pause},
	VerbLoseReply:         {name: "lost-reply", fault: fault.LostReply},
	VerbSlowReply:         {name: "slow-reply", fault: fault.SlowReply},
	VerbCut:               {name: "cut", fault: fault.Cut},
	VerbCancel:            {name: "cancel", fault: fault.Cancel},
	VerbTimeOut:           {name: "time-out", fault: fault.Cancel},
	VerbScriptFlush:       {name: "script-flush", fault: fault.ScriptFlush, by: ByServer},
	VerbRestart:           {name: "restart", fault: fault.Restart, by: ByServer},
	VerbStandstill:        {name: "standstill", fault: fault.Standstill},
	VerbServerStandstill:  {name: "server-standstill", fault: fault.ServerStandstill, by: ByTime},
	VerbMachineStandstill: {name: "machine-standstill", fault: fault.MachineStandstill, by: ByTime},
	VerbStop:              {name: "stop", by: "all"},
}

// What acts where no client does.
const (
	ByTime   = "time"
	ByServer = "server"
)

// String is the verb as replay files have it.
func (v Verb) String() string { return verbs[v].name }

// Fault is the fault that v is, empty when it is none.
func (v Verb) Fault() fault.Kind { return verbs[v].fault }

// By is what does v where no client does, empty where one does.
func (v Verb) By() string { return verbs[v].by }

// OfServer reports whether v is a fault of the server.
func (v Verb) OfServer() bool { return verbs[v].by == ByServer }

// A VerbSet says of each verb whether it is one of them.
type VerbSet [VerbStop + 1]bool

// VerbsOf are the verbs that are faults of these kinds.
func VerbsOf(kinds []fault.Kind) (set VerbSet) {
	for v, verb := range verbs {
		set[v] = verb.fault != "" && slices.Contains(kinds, verb.fault)
	}
	return set
}

// Standstills are the verbs by which processes, the server, or both stand still.
var Standstills = [...]Verb{VerbStandstill, VerbServerStandstill, VerbMachineStandstill}

// Passes reports whether v has time pass as far as its choice says, and pending commands wait.
func (v Verb) Passes() bool { return v == VerbMove || v.Stands() }

// Stands reports whether v is a standstill.
func (v Verb) Stands() bool { return v >= VerbStandstill && v <= VerbMachineStandstill }

// Timed reports whether a choice of v says a time.
func (v Verb) Timed() bool { return v.Passes() || v == VerbSkew }

// faultsOfServer lists the faults of the server.
var faultsOfServer = func() (all []Verb) {
	for v := range verbs {
		if Verb(v).OfServer() {
			all = append(all, Verb(v))
		}
	}
	return all
}()

// FaultsOfServer lists the verbs that are faults of the server. Callers must not change it.
func FaultsOfServer() []Verb { return faultsOfServer }

// VerbNames are the names of all verbs, in the order of their numbers.
func VerbNames() (names []string) {
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}

// A Choice is one way for a schedule to go on. Two choices of one point differ, and
// a choice that is not made stands there again at the next point, equal to what it
// was, for as long as the step between has not changed it.
type Choice struct {
	Verb Verb
	// Actor is what acts: a client by its number, what a process does in the
	// background by the number of clients plus that of the process, NoActor when it
	// is the server or time.
	Actor int
	// Nth tells several pending commands of one actor apart, 0 being the first in
	// the order of their arguments; late ones, whose sender has given them up, count
	// from LateCommand. Of a move it is what time is moved to, in order: see edges; of a
	// standstill, how long it lasts, in order.
	Nth int
	// At is where time is moved to, since the start of the schedule, by how much
	// a clock is off, or how long a standstill lasts.
	At time.Duration
}

// Numbers of a [Choice] that stand for something else.
const (
	NoActor     = -1
	LateCommand = 1000
)

// Cost is what c takes from the budgets of a schedule.
func (c Choice) Cost() (faults, moves int) {
	switch {
	case c.Verb == VerbMove:
		return 0, 1
	case c.Verb.Fault() != "":
		return 1, 0
	}
	return 0, 0
}

// Plain reports whether c takes nothing from any budget.
func (c Choice) Plain() bool {
	faults, moves := c.Cost()
	return faults+moves == 0
}

// A Point is where a schedule can go on in one way or another.
type Point struct {
	// Choices are those there are, in an order that depends on the schedule so far
	// alone; at least one.
	Choices []Choice
	// Steps is how many choices were made before.
	Steps int
}

// A Chooser is a strategy.
type Chooser interface {
	// Begin starts the next schedule. It returns false when there is none left.
	Begin() bool
	// Choose returns the index of the choice to make at p, and Stop to end the
	// schedule there: because nothing new can follow, or there is no more to do.
	Choose(p Point) int
	// Took reports what the choice just made came to.
	Took(e *Effect)
}

// Stop is what a strategy chooses to end a schedule early.
const Stop = -1
