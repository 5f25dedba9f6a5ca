package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A fact is a piece of knowledge about holds that the timeline derives from events. The timeline
// finds facts and does not judge them; monitors judge facts and do not read events.
type fact struct {
	at  interval.Stamp
	key *key
	op  *history.Op // the operation that shows it; nil if none does
	// hold is the subject of the fact, and other a hold of another client that is involved.
	hold, other *hold
	under       lockbench.Conditions // see factForgotten and factLossExpected
}

// A factKind is a kind of fact. The comment of each says what the fields of a fact mean.
type factKind uint8

const (
	// factAcquireCalled: op, an acquire, was called.
	factAcquireCalled factKind = iota
	// factAcquireReturned: op, an acquire, returned. factRefused follows if it was refused, and
	// factGrantedAfterFault if it was granted a key that faults had affected.
	factAcquireReturned
	factRefused
	factGrantedAfterFault
	// factAnswered: op, of any kind, returned with a note, or after the server forgot its scripts.
	factAnswered
	// factGranted: hold was granted by op.
	factGranted
	// factInEffect: hold is granted from at on, and all events of that instant are known.
	factInEffect
	// factOverlap: the must-hold intervals of hold and other overlap from at on.
	factOverlap
	// factSuperseded: other is the first hold that was certainly granted after hold, at at,
	// although the owner of hold had not released it.
	factSuperseded
	// factGrantedEarly: other was granted the key at at, certainly after hold and within its
	// validity. factIntruded: the same, past its validity.
	factGrantedEarly
	factIntruded
	// factLettingGo: the owner of hold gives it up at at, by op; op is nil at the end of the
	// record.
	factLettingGo
	// factStaleCalled: op, a release or extend under hold, was called after its owner had given the
	// key up or lost it to another client.
	factStaleCalled
	// factTakenAway: the server was seen to take hold from its owner when it ran op, a command of
	// the owner of other, which had lost the key.
	factTakenAway
	// factLossExpected: the owner of hold had lost the key to other before it called op, and had
	// not been told; op was answered. under has Outlived if its lease was over at the call.
	factLossExpected
	// factLossTold: the owner of hold learnt at at, by op and for the first time, that it had lost
	// the key.
	factLossTold
	// factGone: hold is over, no operation under it is expected.
	factGone
	// factForgotten: the server forgot the grants of key, under these conditions.
	factForgotten
	// factStoreCalled and factStoreReturned: op, a read or write of the guarded record.
	factStoreCalled
	factStoreReturned
	factKinds // how many there are
)

// A monitor judges one guarantee. Its file says which facts it needs, which state it keeps, and
// what breaks the guarantee.
type monitor struct {
	// needs is the ability that a design must have to be judged. lacks is the reason to report if
	// the design does not have it.
	needs ability
	lacks string
	// untested is the reason to report if the guarantee had no exposure. untestedPast is the same
	// for occasions past a lease; if empty, untested is used.
	untested     string
	untestedPast string
	// allowed describes the slack that the monitor grants; nil if there is none.
	allowed func(*Checker) string
	// measures is the name of the duration that the monitor measures; empty if it measures none.
	measures string
	on       [factKinds]func(*Checker, fact)
}

// monitors has the monitor of each guarantee. The file of the guarantee enters it.
var monitors [guaranteeCount]*monitor

// monitorOf enters the monitor of guarantee p.
func monitorOf(p guaranteeID, m monitor) *monitor {
	monitors[p] = &m
	return &m
}

// listeners has the functions to call for each kind of fact, in the order of the monitors.
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

// publish passes a fact to the monitors that listen to its kind. A fact fits into registers, so
// that this costs next to nothing.
func (c *Checker) publish(kind factKind, f fact) {
	for _, on := range listeners[kind] {
		on(c, f)
	}
}
