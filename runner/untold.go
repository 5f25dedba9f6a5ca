package runner

import (
	"fmt"
	"math"

	"github.com/lockbench/lockbench/history"
)

// An untold gives the judge what a history does not tell, as it accuses nobody: leases that are
// not known, and owners that are not in the record. What is measured has none of it.
type untold struct {
	judge     func(history.Event)
	others    bool
	refreshed bool                // an acquire may begin a lease anew
	keys      map[string]struct{} // those that others may hold, as the judge knows
	under     map[*history.Op]*history.Op
	grants    int64 // whose lease is not known
}

func newUntold(h history.Header, judge func(history.Event)) *untold {
	return &untold{judge: judge, others: h.Others, refreshed: h.Reacquire == "refreshed", keys: map[string]struct{}{}, under: map[*history.Op]*history.Op{}}
}

// event passes ev on.
func (u *untold) event(ev history.Event) {
	op := ev.Op
	if u.others && ev.Phase == history.Call && op.Kind == history.Acquire {
		u.unrecorded(op)
	}
	switch {
	case op.Granted != history.NotTold:
	case ev.Phase == history.Call:
		u.under[op] = short(op)
		ev.Op = u.under[op]
	case ev.Phase == history.Return:
		ev.Op = u.under[op]
		delete(u.under, op)
	}
	u.judge(ev)
	if op.Granted == history.NotTold {
		u.doubt(op, ev.Phase)
	}
}

// doubt has op, of which an end was just judged, leave the key held for as long as can be.
func (u *untold) doubt(op *history.Op, phase history.Phase) {
	switch {
	case op.Outcome == history.OK && phase == history.Return:
		u.grants++
		u.judge(history.Event{Phase: history.Call, Op: lasting(op, op.Return, op.ReturnSeq)})
	case op.Outcome != history.Unknown || phase != history.Call:
	case op.Kind != history.Acquire:
		u.judge(history.Event{Phase: history.Call, Op: lasting(op, op.Call, op.CallSeq)})
	case u.refreshed: // it may cut short what its owner holds
		cut := *op
		cut.Granted, cut.Return = 1, history.Never
		u.judge(history.Event{Phase: history.Call, Op: &cut})
	}
}

// unrecorded has an owner who is not in the record ask for the key of op, and never hear of it: from
// then on the key may be held at any time.
func (u *untold) unrecorded(op *history.Op) {
	if _, known := u.keys[op.Key]; known {
		return
	}
	u.keys[op.Key] = struct{}{}
	u.judge(history.Event{Phase: history.Call, Op: &history.Op{
		Kind: history.Acquire, Key: op.Key, Client: math.MinInt32, Process: math.MinInt32, Stream: math.MaxInt32,
		Hold: math.MinInt64 + int64(len(u.keys)), Call: op.Call, CallSeq: op.CallSeq, Return: history.Never, Attempt: history.NoStamp,
	}})
}

// short is op with the shortest lease that there is, from nobody knows when on: its owner holds
// the key at no time for sure. An acquire of unknown outcome may have been granted the longest.
func short(op *history.Op) *history.Op {
	c := *op
	c.Granted = 1
	switch {
	case op.Kind != history.Acquire:
	case op.Outcome == history.Unknown:
		c.Granted = longest
	default:
		c.Attempt, c.Wait = history.NoStamp, max(1, op.Wait)
	}
	return &c
}

// longest is a lease that lasts for as long as any history, in ns. It is one: the death of its
// owner does not end it.
const longest = math.MaxInt64 / 2

// lasting is a renewal for as long as can be, called at a stamp, of which nobody hears: until it
// is released for certain, the key may be held.
func lasting(op *history.Op, at int64, seq uint64) *history.Op {
	return &history.Op{
		Kind: history.Renew, Key: op.Key, Client: op.Client, Process: op.Process, Stream: op.Stream, Hold: op.Hold,
		Call: at, CallSeq: seq, Return: history.Never, Attempt: history.NoStamp, Granted: longest,
	}
}

// notes say what is not judged for that.
func (u *untold) notes(h history.Header) (notes []string) {
	if u.grants > 0 {
		notes = append(notes, fmt.Sprintf("%d grants do not say how long they last (granted_ns): what rests on that is not judged", u.grants))
	}
	if h.Others {
		notes = append(notes, "owners who are not in the record may hold its keys: whether a key was free is not judged")
	}
	if h.Sample > 0 && h.Sample < 1 {
		notes = append(notes, fmt.Sprintf("%g of all keys are in the record, each wholly: counts and rates are of these", h.Sample))
	}
	return notes
}
