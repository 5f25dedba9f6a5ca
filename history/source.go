package history

import (
	"errors"
	"iter"
)

// A Source is a history that is read once, front to back, in constant memory except
// for operations under way.
type Source interface {
	Header() Header
	// Events yields the call and the return of every operation in the order of
	// (time, sequence number), calls before returns of equal stamps. An operation
	// that never returned yields its call only. The error, if any, comes last; the
	// events before it are sound.
	Events() iter.Seq2[Event, error]
	// End returns, after Events, how the history ended.
	End() End
}

// An Event is one end of an operation, or the end of a client's record.
type Event struct {
	Phase Phase
	// Op is complete at its call already, outcome included. The same pointer comes again with
	// the return. Receivers must not change it, and may keep it: it is never reused.
	Op *Op
}

// Phase is the end of an operation that an event marks.
type Phase uint8

// The phases, in the order in which they come at one stamp.
const (
	Call   Phase = iota // the operation began; events in the narrow sense have only this
	Return              // it returned
	Cut                 // the record of Op.Client stops at Op.Call: in a partial history only
)

// End is how a history ended.
type End struct {
	// Partial: the record stops before the run did; Why gives the reason.
	Partial bool
	Why     string
	// Trailer has the recorder's counts at the end; zero in a partial history.
	Trailer Trailer
}

// sourceBase is the part that all Sources share.
type sourceBase struct {
	header Header
	end    End
	events func(yield func(Event, error) bool)
	// again: the events can be read any number of times; events from a stream, only once.
	again, read bool
}

func (r *sourceBase) Header() Header { return r.header }

func (r *sourceBase) End() End { return r.end }

func (r *sourceBase) Events() iter.Seq2[Event, error] {
	if r.again {
		return r.events
	}
	return func(yield func(Event, error) bool) {
		if r.read {
			yield(Event{}, errRead)
			return
		}
		r.read = true
		r.events(yield)
	}
}

var errRead = errors.New("history: the events were read before; hint: open the history again")
