package pending

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
)

// Crashed is the client that stands for all clients that died.
const Crashed = math.MinInt32

// Calls are stale calls: releases and extends that may take effect after the lease of their owner,
// on the holds of other clients. They matter to grants that they overlap.
type Calls struct {
	newest []call
	// forgot: there were more, which are over by forgotten.
	forgot    bool
	forgotten interval.Stamp
	// pending counts, by client, the calls of unknown outcome. They may take effect at any later
	// time.
	pending Values
	// conditions has the conditions that touch the effects of dropped and pending calls.
	conditions lockbench.Conditions
}

// A call may take effect until the given stamp.
type call struct {
	client int32
	until  interval.Stamp
	under  lockbench.Conditions // what touches what comes of it
}

// maxCalls bounds how many calls are remembered one by one.
const maxCalls = 16

// Sent adds a call of client that may take effect until the given stamp, under these conditions.
func (s *Calls) Sent(client int32, until interval.Stamp, under lockbench.Conditions) {
	if len(s.newest) == maxCalls {
		s.forgot, s.forgotten = true, interval.Later(s.forgotten, s.newest[0].until)
		s.conditions |= s.newest[0].under
		s.newest = slices.Delete(s.newest, 0, 1)
	}
	s.newest = append(s.newest, call{client, until, under})
}

// SentUnknown adds a call of client with an unknown outcome, under these conditions.
func (s *Calls) SentUnknown(client int32, under lockbench.Conditions) {
	*s.pending.At(client, 0)++
	s.conditions |= under
}

// Touch applies that by touched client at now: it touches the effects of the client's calls under
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

// Pending reports whether a call of client may take effect at any later time.
func (s *Calls) Pending(client int32) bool {
	n, _ := s.pending.Get(client)
	return n > 0
}

// Acted removes a pending call of client, which has acted. The client must have one.
func (s *Calls) Acted(client int32) { *s.pending.At(client, 1)-- }

// Retire adds the pending calls of client, which died, to the pending calls of all dead clients. It
// reports whether client had any.
func (s *Calls) Retire(client int32) bool {
	n := s.pending.Remove(client)
	if n > 0 {
		*s.pending.At(Crashed, 0) += n
	}
	return n > 0
}

// Concurrent reports whether a call of another client than client may take effect at from or later,
// and returns the conditions that touch the effects of such calls, as far as they are known.
func (s *Calls) Concurrent(client int32, from interval.Stamp) (under lockbench.Conditions, concurrent bool) {
	concurrent = s.forgot && !s.forgotten.Before(from)
	for p := range s.pending.Each {
		concurrent = concurrent || p.Client != client && p.N > 0
	}
	if concurrent {
		under = s.conditions
	}
	for _, c := range s.newest {
		if c.client != client && !c.until.Before(from) {
			under |= c.under
			concurrent = true
		}
	}
	return under, concurrent
}

// Empty returns Calls without any, which use the memory of s.
func (s *Calls) Empty() Calls { return Calls{newest: s.newest[:0], pending: s.pending.Empty()} }
