package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
)

// A Fault is a fault of a live run, with its frequency. It is plain data; [Parse] and [Usual] make
// valid ones.
//
// A fault of clients occurs with probability P on each occasion or, if P is zero, on the first
// occasion from At on and then from Every after it. With the P of [Usual] it also occurs every half
// second on an occasion of a holder, so that a short run meets it. A fault of the server is due at
// At and then every Every; if it is limited to held locks, it occurs right after the next grant.
type Fault struct {
	Kind Kind
	// At is the earliest time, since the clients began.
	At time.Duration
	// Until is the latest time. Zero ends faults that may leave a key locked some time before the
	// end of the run, so that the rest shows whether they did.
	Until time.Duration
	// Every is the time from one occurrence to the next; zero is once.
	Every time.Duration
	// P is the probability on each occasion, 0 to 1. An occasion is a command that a lock sends,
	// for pause also a grant, and for cancel a call of the lock.
	P float64
	// While restricts the times at which it may occur.
	While While
	// For is how long it lasts. Zero lasts past the lease.
	For time.Duration
	// By is the offset of clocks: two processes differ by up to twice that. Zero is one second more
	// than the design's tolerance. For slow it is the delay of commands and replies. For clock-step
	// it is the step ahead, or back if negative; zero steps past the lease.
	By time.Duration
	// N is the number of servers that are down or have their clocks stepped; for throttle, the rate
	// in KB/s.
	N int
}

// While is a condition for a fault to occur.
type While string

// The conditions.
const (
	// Any is the zero value: no condition.
	Any While = ""
	// Held: the affected client holds a lock, or any client if the server is affected.
	Held While = "held"
)

// String returns the condition in the form that [Parse] reads.
func (w While) String() string {
	if w == Any {
		return "any"
	}
	return string(w)
}

// Usual returns the fault of a kind with its default settings.
func Usual(k Kind) (Fault, error) {
	row, err := find(string(k))
	if err != nil {
		return Fault{}, err
	}
	f := row.Live.Usual
	f.Kind = k
	return f, nil
}

// String returns f in the form that [Parse] reads, with all of its settings.
func (f Fault) String() string {
	text := []string{string(f.Kind)}
	usual, _ := Usual(f.Kind) // the zero Fault for an unknown kind
	add := func(name string, given bool, value any) {
		if given {
			text = append(text, fmt.Sprintf("%s=%v", name, value))
		}
	}
	add("at", f.At+usual.At > 0, f.At)
	add("until", f.Until > 0, f.Until)
	add("every", f.Every+usual.Every > 0, f.Every)
	add("p", f.P+usual.P > 0, f.P)
	add("while", f.While+usual.While != "", f.While)
	add("for", f.For > 0, f.For)
	add("by", f.By != 0, f.By)
	add("n", f.N > 0, f.N)
	return strings.Join(text, ",")
}

// KindsOf returns the kinds of faults, each once, by their names in histories.
func KindsOf(all []Fault) []string {
	var names []string
	for _, f := range all {
		if !slices.Contains(names, string(f.Kind)) {
			names = append(names, string(f.Kind))
		}
	}
	return names
}

// Exercises lists the cells that these faults test, each once, in order.
func Exercises(all []Fault) []lockbench.Cell {
	var found []lockbench.Cell
	for _, f := range all {
		if r := Of(f.Kind); r != nil {
			found = append(found, r.Exercises...)
		}
	}
	slices.SortFunc(found, lockbench.Cell.Compare)
	return slices.Compact(found)
}

// Conditions are the conditions that these faults bring.
func Conditions(all []Fault) lockbench.Conditions {
	var brought lockbench.Conditions
	for _, f := range all {
		if r := Of(f.Kind); r != nil {
			brought |= r.Conditions
		}
	}
	return brought
}

// AffectStore reports whether these faults would affect the guarded records on the locks' server,
// so that the records belong on another.
func AffectStore(all []Fault) bool {
	return slices.ContainsFunc(all, func(f Fault) bool { return Of(f.Kind).Live.Needs&(OwnProcess|Restarts|Keeps|Suspends|Elects) != 0 })
}

// OfOneServer returns the faults for a lock on one server: without faults of several servers, and
// with at most one server to affect.
func OfOneServer(all []Fault) (some []Fault) {
	for _, f := range all {
		live := Of(f.Kind).Live
		if live.Several {
			continue
		}
		if live.setting("n").Servers {
			f.N = min(f.N, 1)
		}
		some = append(some, f)
	}
	return some
}

// Filled returns f with defaults in place of zero settings. pastLease is the time after which a
// lease is over for certain, tolerance the design's tolerance of clocks.
func (f Fault) Filled(pastLease, tolerance time.Duration) Fault {
	for _, s := range Of(f.Kind).Live.Settings {
		switch s.Name {
		case "for":
			f.For = s.filled(f.For, pastLease, tolerance)
		case "by":
			f.By = s.filled(f.By, pastLease, tolerance)
		}
	}
	return f
}

func (s Setting) filled(given, pastLease, tolerance time.Duration) time.Duration {
	if given == 0 {
		switch s.Zero {
		case PastLease:
			given = pastLease
		case PastTolerance:
			given = tolerance + time.Second
		}
	}
	if s.Most > 0 {
		given = min(given, s.Most)
	}
	return given
}

// Check returns the reason why one run on so many servers cannot have all these faults, nil if it
// can.
func Check(all []Fault, servers int) error {
	seen := map[Kind]bool{}
	for _, f := range all {
		row, err := find(string(f.Kind))
		switch {
		case err != nil:
			return err
		case seen[f.Kind]:
			return fmt.Errorf("fault %s is asked for twice; hint: once, with one schedule", f.Kind)
		}
		seen[f.Kind] = true
		if err := f.check(row, servers); err != nil {
			return fmt.Errorf("fault %s %w", f.Kind, err)
		}
	}
	for _, f := range all {
		if live := Of(f.Kind).Live; seen[live.NotWith] {
			return fmt.Errorf("fault %s cannot be had with %s, %s; hint: one run for each", f.Kind, live.NotWith, live.Why)
		}
	}
	return nil
}

// check returns the error in the settings of f for so many servers.
func (f Fault) check(row *Row, servers int) error {
	longest := row.Live.setting("for").Most
	switch {
	case row.Target == Client && f.P == 0 && f.Every == 0 && f.At == 0:
		return errors.New("would never occur; hint: p=0.01, or at=2s")
	case longest > 0 && f.For > longest:
		return fmt.Errorf("lasts %v, longer than clients wait for a reply; hint: for=%v at most", f.For, longest)
	case row.Live.setting("n").Servers && f.N > servers:
		return fmt.Errorf("affects %d servers, there are %d; hint: n=%d, or a design that locks on more", f.N, servers, servers)
	}
	return nil
}
