package fault

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// A Kind is something that can go wrong, by its name.
type Kind string

// A Row is all that there is to know of a fault but the code that injects it.
type Row struct {
	Kind Kind
	// Summary says in a few words what happens.
	Summary string
	Target  Target
	// Conditions are those that it brings; where it brings none, Untouched says why.
	Conditions lockbench.Conditions
	Untouched  string
	// Exercises are the cells that it puts to the test; where there are none although it
	// brings conditions, Unexercised says why.
	Exercises   []lockbench.Cell
	Unexercised string
	// Records are the notes of the events by which a history has it.
	Records []string
	// Live is how live runs do it, nil where they cannot.
	Live *Live
	// Explored are the names that explorations have for it, none where they cannot do it.
	// Explorations do what is OnRequest only where it is asked for.
	Explored  []Kind
	OnRequest bool
	// Locktest: a test of locktest.Run has it happen.
	Locktest bool
}

// A Target is what a fault happens to.
type Target uint8

// The targets.
const (
	Client  Target = iota // a client, on one of its occasions
	Process               // a process, for as long as it lives
	Server                // the server, by the clock
	Network               // the connections of one process, by the clock
)

// String returns the target in words.
func (t Target) String() string {
	return [...]string{"client", "process", "server", "network"}[t]
}

// Live is how live runs do a fault.
type Live struct {
	// Usual is the fault as it is when nothing but its kind is said.
	Usual Fault
	// Settings are those that it has beside at, until, every and while, which all have but
	// faults of processes.
	Settings []Setting
	Needs    Needs
	// NotWith is a fault that one run cannot have beside it, because of Why; empty for none.
	NotWith Kind
	Why     string
	// Several: it is about designs that lock on several servers, and spares those on one.
	Several bool
	// On says on which occasions a fault of clients may occur, and what else a fault of the
	// server waits for: see [Row.When].
	On string
}

// A Setting is a number or a time that a fault has.
type Setting struct {
	Name string // "p", "for", "by" or "n"
	Zero Zero
	// Most is the longest time, zero for no bound.
	Most time.Duration
	// Signed: it may be below zero.
	Signed bool
	// Servers: it counts servers, and there have to be so many.
	Servers bool
}

// A Zero is what a setting of zero stands for.
type Zero uint8

// What zero stands for.
const (
	Itself        Zero = iota
	PastLease          // until past the lease, whatever the design tolerates
	PastTolerance      // a second more than the design says it tolerates
)

// Needs is a set of what a live fault needs of the server that it is done to.
type Needs uint8

// What a fault may need. The zero value is done to processes alone.
const (
	// TCP: a server that is reached by TCP, without TLS.
	TCP Needs = 1 << iota
	// Ours: a server that lockbench started.
	Ours
	// OwnProcess: one that has a process of its own.
	OwnProcess
	// OwnClock: one whose clock can be set.
	OwnClock
	// Redis: a Redis server.
	Redis
	// Restarts: a service that can be killed and started empty.
	Restarts
	// Suspends: a service that can stand still.
	Suspends
	// Replies: a service that answers over connections.
	Replies
)

// Has reports whether all of other are in n.
func (n Needs) Has(other Needs) bool { return n&other == other }

// Rows returns the table, a row for each fault, in the order of lists.
func Rows() []Row { return slices.Clone(rows) }

// Of returns the row of a fault by its name in live runs or in explorations, nil when there is
// none of the name.
func Of(k Kind) *Row {
	for i := range rows {
		if r := &rows[i]; r.Kind == k || slices.Contains(r.Explored, k) {
			return r
		}
	}
	return nil
}

// Kinds lists every fault of live runs.
func Kinds() (all []Kind) {
	for i := range rows {
		if rows[i].Live != nil {
			all = append(all, rows[i].Kind)
		}
	}
	return all
}

// Explored lists every fault of explorations by its name there.
func Explored() (all []Kind) {
	for i := range rows {
		all = append(all, rows[i].Explored...)
	}
	return all
}

// Names returns these kinds as text.
func Names(all []Kind) (names []string) {
	for _, k := range all {
		names = append(names, string(k))
	}
	return names
}

// find returns the row of the live fault with this name; the error lists near matches.
func find(name string) (*Row, error) {
	for i := range rows {
		if r := &rows[i]; r.Live != nil && r.Kind == Kind(name) {
			return r, nil
		}
	}
	return nil, suggest.Unknown("fault", name, Names(Kinds()))
}

// setting returns what there is to know of a setting of the fault; the zero Setting for one
// that it has not.
func (l *Live) setting(name string) Setting {
	for _, s := range l.Settings {
		if s.Name == name {
			return s
		}
	}
	return Setting{}
}

// LeavesLocked reports whether what the fault affects may stay locked: recovery is at stake.
func (r *Row) LeavesLocked() bool {
	return slices.ContainsFunc(r.Exercises, func(c lockbench.Cell) bool { return c.Guarantee == lockbench.Recovery })
}

// When says when the fault occurs in a live run that does not set it otherwise; empty where no
// live run does it. Explorations have it occur wherever a schedule can.
func (r *Row) When() string {
	if r.Live == nil {
		return ""
	}
	switch on := r.Live.On; {
	case r.Target == Client && r.Live.Usual.While == Held:
		return on + ", by chance and every half second"
	case r.Target == Client:
		return on + ", by chance and every half second at one of a holder"
	case r.Target == Process:
		return "from the start of each process on"
	case r.Target == Network:
		return "while a client of the process holds a lock"
	case on != "":
		return "right after a grant " + on
	}
	return "right after a grant"
}
