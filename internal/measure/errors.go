package measure

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/serverror"
)

// MaxErrors bounds the kinds of errors of a run that are counted apart; the rest are counted
// together, as [OtherErrors].
const MaxErrors = 16

// OtherErrors is the kind of the errors beyond MaxErrors.
const OtherErrors = "other errors"

// An Error counts the errors of one kind that operations of one kind met in a run.
type Error struct {
	// Op is the kind of operation; zero for [OtherErrors].
	Op history.Kind
	// Kind is the code of the server's reply ("NOPERM"), else a class in words ("connection
	// refused", "time-out").
	Kind string
	// Refusal is set if the server refused to run the command, for a reason other than the lock.
	Refusal bool
	// Fault names the injected fault that caused the errors, as histories note it. It is empty if no
	// fault did.
	Fault string
	// Count is the number of errors, Of the number of operations of that kind.
	Count, Of int64
	// First is the beginning of the first error's text, At the time of that answer, in ns
	// since the start of the run.
	First string
	At    int64
}

// classNames are the names of error classes that are no server codes.
var classNames = map[string]string{
	"connection": "connection lost", "connection-refused": "connection refused", "timeout": "time-out",
	"pool-timeout": "no free connection", "canceled": "cancelled by the run", "no-lease": "neither lease nor error", "error": "error",
}

// errorCount counts the errors of a run.
type errorCount struct {
	kinds []Error
	ops   [history.Fault + 1]int64 // by sort
	// byClient has, by client, the last fault that affected its current operation. server is the
	// last fault of the server or the network. Both are empty if there was none.
	byClient map[int32]clientFault
	server   string
	// incidents counts the incidents of servers of the user's that are under way. What is recorded
	// of them was not injected.
	incidents int
	// faults is set if the run may have injected faults. Then recent has errors that a fault of the
	// server may have caused although the fault is recorded after them.
	faults bool
	recent []Error
}

// Bounds of recent errors. A server is down before the fault is recorded, so an error within
// faultDelay ns before the record of a fault is attributed to that fault.
const (
	faultDelay = int64(time.Second)
	maxRecent  = 4096
)

// A clientFault is a fault that affected a client.
type clientFault struct {
	at   int64
	note string
}

// add adds the next event.
func (e *errorCount) add(ev history.Event) {
	op := ev.Op
	switch {
	case ev.Phase == history.Return && op.Note == "": // as most returns are
	case ev.Phase == history.Call && op.Kind == history.Fault:
		e.fault(op)
	case ev.Phase == history.Call && op.Kind < history.Lost:
		e.ops[op.Kind]++
	case ev.Phase == history.Return && op.Kind < history.Lost && op.ErrorClass() != "" && op.ErrorClass() != history.Stale:
		e.count(op)
	}
}

// fault records a fault that may make operations fail.
func (e *errorCount) fault(op *history.Op) {
	switch event := fault.EventOf(op.Note); {
	case op.Note == fault.Losing:
		e.incidents++
	case op.Note == fault.Loss:
		e.incidents = max(0, e.incidents-1)
	case event.Act == fault.AffectsCall || event.Act == fault.CutsCall || event.Act == fault.ActsLate:
		if e.byClient == nil {
			e.byClient = map[int32]clientFault{}
		}
		e.byClient[op.Client] = clientFault{op.Call, op.Note}
	case event.Act == fault.StandsStill || event.Act == fault.Prolongs: // neither may hide the fault that caused it
	case e.incidents == 0 && op.Note != string(fault.Skew) && op.Note != fault.TakenAway && op.Note != fault.ServerResume:
		e.server = op.Note
		e.settle(op.Call-faultDelay, op.Note)
	}
}

// settle counts the recent errors. It attributes errors at from or later to the fault with this
// note.
func (e *errorCount) settle(from int64, note string) {
	for _, one := range e.recent {
		if one.At >= from {
			one.Fault = note
		}
		e.tally(one)
	}
	e.recent = e.recent[:0]
}

func (e *errorCount) count(op *history.Op) {
	one := Error{Op: op.Kind, Kind: kindOf(op.ErrorClass()), First: op.ErrorWords(), At: op.Return}
	one.Refusal = serverror.IsRefusal(one.Kind)
	one.Fault = e.cause(op, one.Kind)
	switch {
	case one.Fault == "" && e.faults && ofServers(one.Kind):
		if len(e.recent) >= maxRecent {
			e.settle(history.Never, "")
		}
		e.recent = append(e.recent, one)
	default:
		e.tally(one)
	}
}

// tally counts one error.
func (e *errorCount) tally(one Error) {
	if one.Fault != "" && one.Kind == classNames["canceled"] {
		one.Kind = "cancelled"
	}
	at := slices.IndexFunc(e.kinds, func(o Error) bool { return o.Op == one.Op && o.Kind == one.Kind && o.Fault == one.Fault })
	if at < 0 && len(e.kinds) >= MaxErrors {
		one = Error{Kind: OtherErrors, First: one.First, At: one.At}
		at = slices.IndexFunc(e.kinds, func(o Error) bool { return o.Kind == OtherErrors })
	}
	if at < 0 {
		at = len(e.kinds)
		e.kinds = append(e.kinds, one)
	}
	known := &e.kinds[at]
	known.Count++
	if one.First != "" && (known.First == "" || one.At < known.At) {
		known.First = one.First
	}
	known.At = min(known.At, one.At)
}

// kindOf returns the name of a class of errors in reports.
func kindOf(class string) string {
	if name := classNames[class]; name != "" {
		return name
	}
	return strings.ToUpper(class)
}

// cause returns the note of the injected fault that caused an error, empty if none did: a fault
// that affected the client during its call or else, for a lost connection or an error of a
// restarting server, the last fault of the server. In a run without injected faults a broken
// connection is not the cause of an error, but the error itself.
func (e *errorCount) cause(op *history.Op, kind string) string {
	if s, ok := e.byClient[op.Client]; ok && e.faults && s.at >= op.Call && s.at <= op.Return {
		return s.note
	}
	if ofServers(kind) {
		return e.server
	}
	return ""
}

// ofServers reports whether a fault of the server can cause errors of a kind.
func ofServers(kind string) bool {
	switch kind {
	case "connection lost", "connection refused", "time-out", "no free connection", "error",
		"NOSCRIPT", "LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN", "MOVED", "TRYAGAIN", "BUSY", "UNBLOCKED":
		return true
	}
	return false
}

// result lists the errors, the most frequent first, and among equals the earlier first.
func (e *errorCount) result() []Error {
	e.settle(history.Never, "")
	for i := range e.kinds {
		one := &e.kinds[i]
		if one.Of = e.ops[one.Op]; one.Kind == OtherErrors {
			for _, n := range e.ops {
				one.Of += n
			}
		}
	}
	slices.SortStableFunc(e.kinds, byCount)
	return e.kinds
}

// byCount orders errors: the most frequent first, and among equals the earlier first.
func byCount(a, b Error) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.At, b.At)) }
