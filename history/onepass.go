package history

import (
	"errors"
	"iter"
)

// onePass is what all Sources that are read from a stream share: their events can be
// read once.
type onePass struct {
	header Header
	end    End
	events func(yield func(Event, error) bool)
	read   bool
}

func (s *onePass) Header() Header { return s.header }

func (s *onePass) End() End { return s.end }

func (s *onePass) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if s.read {
			yield(Event{}, errRead)
			return
		}
		s.read = true
		s.events(yield)
	}
}

var errRead = errors.New("history: the events were read before; hint: open the history again")
