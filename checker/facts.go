package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A fact is what the timeline makes of events: something that is known about holds. The
// timeline finds facts and judges nothing; monitors judge facts and look at no event.
type fact struct {
	at  interval.Stamp
	key *key
	op  *history.Op // the operation that made it known; nil where none did
	// hold is what it is about, and other the hold of another client that it involves.
	hold, other *hold
	under       lockbench.Conditions // see factForgotten and factLossExpected
}

// A factKind is what kind of fact.
type factKind uint8

const (
	// factAcquireCalled: op, an acquire, was called.
	factAcquireCalled factKind = iota
	// factAcquireReturned: op, an acquire, returned. It is followed by factRefused if it was
	// refused, and by factGrantedAfterFault if it was granted a key that faults have had an effect on.
	factAcquireReturned
	factRefused
	factGrantedAfterFault
	// factAnswered: op, of any kind, returned with a note, or after the server forgot its scripts.
	factAnswered
	// factGranted: hold was granted by op.
	factGranted
	// factInEffect: the grant of hold counts from at on; all of that instant is known.
	factInEffect
	// factOverlap: the must-hold intervals of hold and other overlap from at on.
	factOverlap
	// factSuperseded: other, the first, was granted the key at at, for sure after hold, whose
	// owner had not let go.
	factSuperseded
	// factGrantedEarly: other, the first or a later one, was granted the key at at, for sure
	// after hold and within its validity. factIntruded: the same, past its validity.
	factGrantedEarly
	factIntruded
	// factLettingGo: the owner of hold lets it go at at, by op; nil where the record ended.
	factLettingGo
	// factStaleCalled: op, a release or extend, was called by the owner of hold, who had given
	// the key up or lost it to another.
	factStaleCalled
	// factTakenAway: op, a command of the owner of other, who had lost the key, was seen to take
	// hold from its owner on the server.
	factTakenAway
	// factLossExpected: op was answered to the owner of hold, who had lost the key to other before
	// the call, and had not been told; under says whether it had outlived its lease.
	factLossExpected
	// factLossTold: the owner of hold learnt at at, for the first time, by op, that it had
	// lost the key.
	factLossTold
	// factGone: nothing more happens under hold.
	factGone
	// factForgotten: the server forgot what it had granted on key, under these conditions.
	factForgotten
	// factStoreCalled and factStoreReturned: op, a read or write of the guarded record.
	factStoreCalled
	factStoreReturned
	factKinds // how many there are
)

// A monitor judges one guarantee. Its file says which facts it needs, what state it keeps,
// what breaks it, and when it counts as put to the test.
type monitor struct {
	// Where the design has not the ability that it needs, there is nothing to judge, and lacks
	// says why.
	needs ability
	lacks string
	// untested says what there was no occasion of; allowed what was allowed for, nil for
	// nothing.
	untested string
	// untestedPast is the same for what is done past a lease; empty is as before.
	untestedPast string
	allowed      func(*Checker) string
	// measures names what is measured of it, in ns; empty is nothing.
	measures string
	on       [factKinds]func(*Checker, fact)
}

// monitors is one for each guarantee, in their order. The file of each enters its own.
var monitors [guaranteeCount]*monitor

// monitorOf enters the monitor of a guarantee.
func monitorOf(p guaranteeID, m monitor) *monitor {
	monitors[p] = &m
	return &m
}

// listeners are the monitors' functions by the facts that they listen to, in the order of
// monitors: what nobody listens to costs nothing.
var listeners [factKinds][]func(*Checker, fact)

func init() {
	for kind := range factKinds {
		for _, m := range monitors {
			if m != nil && m.on[kind] != nil { // a test reports a missing monitor
				listeners[kind] = append(listeners[kind], m.on[kind])
			}
		}
	}
}

// publish passes a fact on to the monitors that listen to its kind. A fact is small enough for
// registers: passing it on costs next to nothing.
func (c *Checker) publish(kind factKind, f fact) {
	for _, on := range listeners[kind] {
		on(c, f)
	}
}
