package interval

import (
	"testing"

	"github.com/lockbench/lockbench/history"
)

// granted is a grant from 1, answered at 2, for 10.
func granted(rules Rules) *Grant {
	var g Grant
	g.Begin(&history.Op{Kind: history.Acquire, Outcome: history.OK, Call: 1, Return: 2, Attempt: 1, Granted: 10}, rules)
	return &g
}

// op is an operation that sets a lease of 10, from call to call+1.
func op(kind history.Kind, outcome history.Outcome, call int64) *history.Op {
	return &history.Op{Kind: kind, Outcome: outcome, Call: call, Return: call + 1, Attempt: call, Granted: 10}
}

// TestIntervals applies operations to a grant, each called and returned in turn, and checks
// the begin and end of its newest segment, and the time until which it may be held. The
// latter includes a slack of 100 for each doubt.
func TestIntervals(t *testing.T) {
	nested, refreshed := Rules{Nested: true}, Rules{Refreshed: true}
	for _, c := range []struct {
		name            string
		rules           Rules
		ops             []*history.Op
		start, end, may int64
	}{
		{"alone", Rules{}, nil, 2, 11, 112},
		{"extended in time", Rules{}, []*history.Op{op(history.Extend, history.OK, 8)}, 2, 18, 119},
		{"extended too late", Rules{}, []*history.Op{op(history.Extend, history.OK, 12)}, 13, 22, 123},
		{"extended, nobody knows", Rules{}, []*history.Op{op(history.Extend, history.Unknown, 8)}, 2, 11, 222},
		{"renewal that failed", Rules{}, []*history.Op{op(history.Renew, history.Failed, 8)}, 2, 11, 112},
		{"released", Rules{}, []*history.Op{op(history.Release, history.OK, 5)}, 2, 5, 6},
		{"released, nobody knows", Rules{}, []*history.Op{op(history.Release, history.Unknown, 5)}, 2, 5, 112},
		{"nested in time", nested, []*history.Op{op(history.Acquire, history.OK, 8)}, 2, 18, 119},
		{"nested, released once", nested, []*history.Op{op(history.Acquire, history.OK, 8), op(history.Release, history.OK, 10)}, 2, 18, 121},
		{"nested, released twice", nested, []*history.Op{op(history.Acquire, history.OK, 8), op(history.Release, history.OK, 10), op(history.Release, history.OK, 12)}, 2, 12, 13},
		{"refreshed too late", refreshed, []*history.Op{op(history.Acquire, history.OK, 12)}, 13, 22, 123},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := granted(c.rules)
			for _, op := range c.ops {
				apply(g, op)
			}
			if !g.HasMust || g.Start.T != c.start || g.MustEnd().T != c.end {
				t.Errorf("must hold from %d to %d (%t), want %d to %d", g.Start.T, g.MustEnd().T, g.HasMust, c.start, c.end)
			}
			if may := g.Freed(100).T; may != c.may {
				t.Errorf("may hold until %d, want %d", may, c.may)
			}
		})
	}
}

// apply applies the call and the return of op.
func apply(g *Grant, op *history.Op) {
	switch op.Kind {
	case history.Acquire:
		g.Reacquire(op)
		g.ExtendMayHold(op)
	case history.Release:
		if g.Release(op) {
			g.GiveUp(op)
		}
	default:
		g.Extend(op)
	}
	if op.Outcome == history.Unknown {
		g.SettlePending(op, op.Return, false)
	}
	if op.Outcome == history.OK {
		g.Returned(op)
	}
}

// TestConflict: segments that only touch do not conflict.
func TestConflict(t *testing.T) {
	a := granted(Rules{})
	for _, c := range []struct {
		call     int64
		conflict bool
		shared   int64
	}{{4, true, 6}, {9, true, 1}, {10, false, 0}, {20, false, 0}} {
		var b Grant
		b.Begin(op(history.Acquire, history.OK, c.call), Rules{})
		if got := Conflict(a, &b); got != c.conflict {
			t.Errorf("granted at %d: conflict %t, want %t", c.call, got, c.conflict)
		}
		if got := Shared(a, &b, Forever); got != c.shared {
			t.Errorf("granted at %d: shared %d, want %d", c.call, got, c.shared)
		}
	}
}
