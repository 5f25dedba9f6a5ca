package pending

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
)

// Crashed stands for all clients that died.
const Crashed = math.MinInt32

// Calls are the releases and extends that may take effect past their owners' leases, on what
// others hold by then. They matter to the grants that they overlap.
type Calls struct {
	newest []call
	// forgot: there were more, which are over by forgotten.
	forgot    bool
	forgotten interval.Stamp
	// pending counts, by client, those whose outcome is unknown: they may take effect at
	// any later time.
	pending Values
	// conditions is what touches what comes of those that are forgotten, or pending.
	conditions lockbench.Conditions
}

// A call may take effect until then.
type call struct {
	client int32
	until  interval.Stamp
	under  lockbench.Conditions // what touches what comes of it
}

// maxCalls bounds how many calls are remembered one by one.
const maxCalls = 16

// Sent adds a call of client, that may take effect until then under these conditions.
func (s *Calls) Sent(client int32, until interval.Stamp, under lockbench.Conditions) {
	if len(s.newest) == maxCalls {
		s.forgot, s.forgotten = true, interval.Later(s.forgotten, s.newest[0].until)
		s.conditions |= s.newest[0].under
		s.newest = slices.Delete(s.newest, 0, 1)
	}
	s.newest = append(s.newest, call{client, until, under})
}

// SentUnknown adds a call of client whose outcome is unknown, under these conditions.
func (s *Calls) SentUnknown(client int32, under lockbench.Conditions) {
	*s.pending.At(client, 0)++
	s.conditions |= under
}

// Touch applies that a condition has touched client by now: what comes of its calls under
// way, too.
func (s *Calls) Touch(client int32, by lockbench.Conditions, now interval.Stamp) {
	for i := range s.newest {
		if c := &s.newest[i]; c.client == client && !c.until.Before(now) {
			c.under |= by
		}
	}
	if s.Pending(client) {
		s.conditions |= by
	}
}

// Pending reports whether a call of client may take effect at any time.
func (s *Calls) Pending(client int32) bool {
	n, _ := s.pending.Get(client)
	return n > 0
}

// FaultedActed takes away a pending call of client, which it has, and which has acted.
func (s *Calls) Acted(client int32) { *s.pending.At(client, 1)-- }

// Retire counts what is pending of client, which died, among the calls of all crashed clients, and
// reports whether there is anything.
func (s *Calls) Retire(client int32) bool {
	n := s.pending.Remove(client)
	if n > 0 {
		*s.pending.At(Crashed, 0) += n
	}
	return n > 0
}

// LeaseCap reports whether a call of another than client may take effect at from or later, and
// which conditions touch what comes of it, as far as is known.
func (s *Calls) Concurrent(client int32, from interval.Stamp) (under lockbench.Conditions, beside bool) {
	beside = s.forgot && !s.forgotten.Before(from)
	for p := range s.pending.Each {
		beside = beside || p.Client != client && p.N > 0
	}
	if beside {
		under = s.conditions
	}
	for _, c := range s.newest {
		if c.client != client && !c.until.Before(from) {
			under |= c.under
			beside = true
		}
	}
	return under, beside
}

// Empty is no calls, in the memory of s.
func (s *Calls) Empty() Calls { return Calls{newest: s.newest[:0], pending: s.pending.Empty()} }
