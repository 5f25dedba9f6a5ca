package explore

import (
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// A verb is what one step of a schedule does.
type verb uint8

const (
	verbRun         verb = iota // the actor goes on to its next command, which runs
	verbWait                    // nobody can go on: time passes until somebody can
	verbMove                    // time passes, and what is pending now comes later
	verbBegin                   // the schedule begins with the clocks as they are
	verbSkew                    // a process's clock is off from the start
	verbDieBefore               // the actor dies, its command does not run
	verbDieAfter                // the command runs, then the actor dies
	verbPause                   // the actor stands still until past its lease
	verbLoseReply               // the command runs, the connection breaks instead of an answer
	verbSlowReply               // the command runs, the answer arrives when it is run once more
	verbCut                     // the connection breaks, the command does not run
	verbCancel                  // the context of the actor's call ends
	verbTimeOut                 // so it does, and the read; the command may run later
	verbScriptFlush             // the server forgets its scripts
	verbRestart                 // the server restarts empty
	verbStop                    // the schedule ends here; only a replay asks for it
)

// verbs describe the verbs: the name that replay files have for each, the fault that it is,
// and who does it where no client does.
var verbs = [...]struct {
	name  string
	fault fault.Kind // empty when it is none
	by    string     // empty: a client
}{
	verbRun:         {name: "run"},
	verbWait:        {name: "wait", by: byTime},
	verbMove:        {name: "at", by: byTime},
	verbBegin:       {name: "begin", by: byTime},
	verbSkew:        {name: "skew", fault: fault.Skew},
	verbDieBefore:   {name: "die-before", fault: fault.DieBefore},
	verbDieAfter:    {name: "die-after", fault: fault.DieAfter},
	verbPause:       {name: "pause", fault: fault.Pause},
	verbLoseReply:   {name: "lost-reply", fault: fault.LostReply},
	verbSlowReply:   {name: "slow-reply", fault: fault.SlowReply},
	verbCut:         {name: "cut", fault: fault.Cut},
	verbCancel:      {name: "cancel", fault: fault.Cancel},
	verbTimeOut:     {name: "time-out", fault: fault.Cancel},
	verbScriptFlush: {name: "script-flush", fault: fault.ScriptFlush, by: byServer},
	verbRestart:     {name: "restart", fault: fault.Restart, by: byServer},
	verbStop:        {name: "stop", by: "all"},
}

// What acts where no client does.
const (
	byTime   = "time"
	byServer = "server"
)

func (v verb) String() string { return verbs[v].name }

// fault is the fault that v is, empty when it is none.
func (v verb) fault() fault.Kind { return verbs[v].fault }

// ofServer lists the faults of the server.
var ofServer = func() (all []verb) {
	for v := range verbs {
		if verbs[v].by == byServer {
			all = append(all, verb(v))
		}
	}
	return all
}()

// verbNames are the names of all verbs.
func verbNames() (names []string) {
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}

// A choice is one way for a schedule to go on. Two choices of one point differ, and
// a choice that is not made stands there again at the next point, equal to what it
// was, for as long as the step between has not changed it.
type choice struct {
	verb verb
	// actor is what acts: a client by its number, what a process does in the
	// background by the number of clients plus that of the process, noActor when it
	// is the server or time.
	actor int
	// nth tells several pending commands of one actor apart, 0 being the first in
	// the order of their arguments; late ones, whose sender has given them up, count
	// from lateCommand. Of a move it is what time is moved to, in order: see edges.
	nth int
	// at is where time is moved to, since the start of the schedule, or by how much
	// a clock is off.
	at time.Duration
}

const (
	noActor     = -1
	lateCommand = 1000
)

// cost is what c takes from the budgets of a schedule.
func (c choice) cost() (faults, moves int) {
	switch {
	case c.verb == verbMove:
		return 0, 1
	case c.verb.fault() != "":
		return 1, 0
	}
	return 0, 0
}

// plain reports whether c takes nothing from any budget.
func (c choice) plain() bool {
	faults, moves := c.cost()
	return faults+moves == 0
}

// A point is where a schedule can go on in one way or another.
type point struct {
	// choices are those there are, in an order that depends on the schedule so far
	// alone; at least one.
	choices []choice
	// steps is how many choices were made before.
	steps int
}

// A strategy chooses schedules. It knows nothing but choices: no clock, no server.
type strategy interface {
	// begin starts the next schedule. It returns false when there is none left.
	begin() bool
	// choose returns the index of the choice to make at p, and stop to end the
	// schedule there: because nothing new can follow, or there is no more to do.
	choose(p point) int
	// took reports what the choice just made came to.
	took(e *effect)
}

// stop is what a strategy chooses to end a schedule early.
const stop = -1
