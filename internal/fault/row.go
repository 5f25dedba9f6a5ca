package fault

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// A Kind is the name of a kind of fault.
type Kind string

// A Row describes a fault completely, but for the code that injects it.
type Row struct {
	Kind Kind
	// Summary describes the fault in a few words.
	Summary string
	Target  Target
	// Conditions are the conditions that it brings; Untouched says why if it brings none.
	Conditions lockbench.Conditions
	Untouched  string
	// Exercises are the cells that it tests; Unexercised says why if there are none although
	// it brings conditions.
	Exercises   []lockbench.Cell
	Unexercised string
	// Records are the notes of its events in a history.
	Records []string
	// Live describes it in live runs, nil if they cannot inject it.
	Live *Live
	// Explored are its names in explorations, none if they cannot inject it. Explorations
	// inject OnRequest faults only by name.
	Explored  []Kind
	OnRequest bool
	// Locktest means that a test of locktest.Run injects it.
	Locktest bool
}

// A Target is the part of a system that a fault affects.
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

// Live describes a fault in live runs.
type Live struct {
	// Usual is the fault with its default settings.
	Usual Fault
	// Settings are its settings other than at, until, every and while. All faults except faults of
	// processes have these four.
	Settings []Setting
	Needs    Needs
	// NotWith is a fault that cannot share a run with it, for the reason Why; empty for none.
	NotWith Kind
	Why     string
	// Several is set for faults of designs that lock on several servers. Designs on one server are
	// spared.
	Several bool
	// On names the occasions of a fault of clients, or an additional condition of a fault of
	// the server: see [Row.When].
	On string
}

// A Setting is a number or a time that a fault takes.
type Setting struct {
	Name string // "p", "for", "by" or "n"
	Zero Zero
	// Most is the longest duration, zero for no bound.
	Most time.Duration
	// Signed is set if the value may be negative.
	Signed bool
	// Servers is set if the value is a number of servers, which must exist.
	Servers bool
}

// A Zero is the meaning of a setting of zero.
type Zero uint8

// Meanings of zero.
const (
	Itself        Zero = iota
	PastLease          // until past the lease, whatever the design tolerates
	PastTolerance      // a second more than the design's tolerance
)

// Needs is the set of properties that a live fault needs of its server.
type Needs uint16

// Elements of Needs. Faults with the zero value affect processes alone.
const (
	// TCP: a server that is reached by TCP, without TLS.
	TCP Needs = 1 << iota
	// Ours: a server that lockbench started.
	Ours
	// OwnProcess: a server that has a process of its own.
	OwnProcess
	// OwnClock: a server with a clock that can be set.
	OwnClock
	// Redis: a Redis server.
	Redis
	// Restarts: a service that can be killed and started empty.
	Restarts
	// Keeps: a service that can be killed and started with all that it has acknowledged.
	Keeps
	// Suspends: a service that can stand still.
	Suspends
	// Replies: a service that answers over connections.
	Replies
	// Sessions: a service that can end the sessions of its clients.
	Sessions
	// Replicates: a service whose place a replica can take.
	Replicates
	// Elects: a service that can have members, which elect a leader.
	Elects
)

// Has reports whether all of other are in n.
func (n Needs) Has(other Needs) bool { return n&other == other }

// Rows returns the table, a row for each fault, in the order of lists.
func Rows() []Row { return slices.Clone(rows) }

// Of returns the row of a fault by its name in live runs or in explorations, nil for an
// unknown name.
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

// OfServer reports whether a note is of a fault of a server, or of leases that a server prolongs.
func OfServer(note string) bool {
	row := Of(Kind(note))
	return note == LeasesProlonged || row != nil && row.Target == Server
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

// setting returns the setting of that name; the zero Setting if the fault lacks it.
func (l *Live) setting(name string) Setting {
	for _, s := range l.Settings {
		if s.Name == name {
			return s
		}
	}
	return Setting{}
}

// LeavesLocked reports whether the fault may leave a key locked, so that it tests recovery.
func (r *Row) LeavesLocked() bool {
	return slices.ContainsFunc(r.Exercises, func(c lockbench.Cell) bool { return c.Guarantee == lockbench.Recovery })
}

// When says when the fault occurs in a live run with default settings; empty if no live run
// has it. In explorations it occurs wherever a schedule can place it.
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
