package strategy

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// A Verb is the kind of a step of a schedule.
type Verb uint8

// The verbs.
const (
	VerbRun               Verb = iota // the actor continues to its next command, which runs
	VerbWait                          // no actor can continue: time passes until one can
	VerbMove                          // time passes while pending commands wait
	VerbBegin                         // the schedule begins with the clocks as they are
	VerbSkew                          // the clock of a process is off, from the start on
	VerbDieBefore                     // the actor dies, its command does not run
	VerbDieAfter                      // the command runs, then the actor dies
	VerbPause                         // the actor stands still until after its lease
	VerbLoseReply                     // the command runs, and the connection breaks before the reply
	VerbSlowReply                     // the command runs, and the reply arrives when the command is run once more
	VerbCut                           // the connection breaks, the command does not run
	VerbCancel                        // the context of the actor's call ends
	VerbCancelBefore                  // the context of the actor's call is over before it
	VerbTimeOut                       // the context and the read end; the command may run later
	VerbScriptFlush                   // the server forgets its scripts
	VerbRestart                       // the server restarts empty
	VerbStandstill                    // the actor sends its command, then all processes stand still; sent commands run, and their replies arrive after the standstill
	VerbServerStandstill              // the server stands still, and clients continue up to their next command
	VerbMachineStandstill             // all processes and the server stand still
	VerbStop                          // the schedule ends; only a replay chooses it
)

// verbs describe the verbs: the name in replay files, the fault, and the acting party if it is
// no client.
var verbs = [...]struct {
	name  string
	fault fault.Kind // empty for no fault
	by    string     // empty for a client
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
	VerbCancelBefore:      {name: "cancel-before", fault: fault.Cancel},
	VerbTimeOut:           {name: "time-out", fault: fault.Cancel},
	VerbScriptFlush:       {name: "script-flush", fault: fault.ScriptFlush, by: ByServer},
	VerbRestart:           {name: "restart", fault: fault.Restart, by: ByServer},
	VerbStandstill:        {name: "standstill", fault: fault.Standstill},
	VerbServerStandstill:  {name: "server-standstill", fault: fault.ServerStandstill, by: ByTime},
	VerbMachineStandstill: {name: "machine-standstill", fault: fault.MachineStandstill, by: ByTime},
	VerbStop:              {name: "stop", by: "all"},
}

// Acting parties other than clients.
const (
	ByTime   = "time"
	ByServer = "server"
)

// String is the verb's name in replay files.
func (v Verb) String() string { return verbs[v].name }

// Fault is the fault of v, empty if it is none.
func (v Verb) Fault() fault.Kind { return verbs[v].fault }

// By is the acting party of v, empty for a client.
func (v Verb) By() string { return verbs[v].by }

// OfServer reports whether v is a fault of the server.
func (v Verb) OfServer() bool { return verbs[v].by == ByServer }

// A VerbSet is a set of verbs.
type VerbSet [VerbStop + 1]bool

// VerbsOf returns the verbs of these kinds of faults.
func VerbsOf(kinds []fault.Kind) (set VerbSet) {
	for v, verb := range verbs {
		set[v] = verb.fault != "" && slices.Contains(kinds, verb.fault)
	}
	return set
}

// Standstills are the verbs for standstills of processes, the server, or both.
var Standstills = [...]Verb{VerbStandstill, VerbServerStandstill, VerbMachineStandstill}

// Passes reports whether v lets time pass to its choice's time while pending commands wait.
func (v Verb) Passes() bool { return v == VerbMove || v.Stands() }

// Stands reports whether v is a standstill.
func (v Verb) Stands() bool { return v >= VerbStandstill && v <= VerbMachineStandstill }

// Timed reports whether a choice of v has a time.
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

// VerbNames are the names of all verbs, by number.
func VerbNames() (names []string) {
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}

// A Choice is one possible next step of a schedule. The choices at one point differ. A choice that
// is not made is offered again, equal, at the next point, unless the step between them changed it.
type Choice struct {
	Verb Verb
	// Actor is the number of a client, the number of clients plus the number of a process for the
	// background of that process, or NoActor for the server and for time.
	Actor int
	// Nth tells the pending commands of an actor apart, from 0 in the order of their arguments.
	// Late commands, which outlast their calls, count from LateCommand. For a time move it is the
	// number of the edge, for a standstill the number of its duration.
	Nth int
	// At is the time, since the start of the schedule, that a time move goes to; or the skew of a
	// clock; or the duration of a standstill.
	At time.Duration
}

// Special numbers of a [Choice].
const (
	NoActor     = -1
	LateCommand = 1000
)

// Cost returns the cost of c in the budgets of a schedule.
func (c Choice) Cost() (faults, moves int) {
	switch {
	case c.Verb == VerbMove:
		return 0, 1
	case c.Verb.Fault() != "":
		return 1, 0
	}
	return 0, 0
}

// Plain reports whether c costs nothing.
func (c Choice) Plain() bool {
	faults, moves := c.Cost()
	return faults+moves == 0
}

// A Point is a position in a schedule, with the possible next steps.
type Point struct {
	// Choices are in an order that depends only on the schedule so far; at least one.
	Choices []Choice
	// Steps is the number of choices made before.
	Steps int
}

// A Chooser is a strategy.
type Chooser interface {
	// Begin starts the next schedule. It returns false when there is none left.
	Begin() bool
	// Choose returns the index of the choice to make at p, or Stop to end the schedule there:
	// because nothing new can follow, or there is no more to do.
	Choose(p Point) int
	// Took reports the effect of the last choice.
	Took(e *Effect)
}

// Stop is the choice to end a schedule early.
const Stop = -1
