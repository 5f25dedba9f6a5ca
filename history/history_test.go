package history

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// listed is a Source over a list, in an order found the slow and obvious way.
type listed struct {
	header Header
	events []Event
	end    End
}

func (l *listed) Header() Header { return l.header }
func (l *listed) End() End       { return l.end }
func (l *listed) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, ev := range l.events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// complete makes a source of whole operations. Operations of one client with
// equal stamps keep their order, except for events and renewals, which come
// last.
func complete(ops []*Op) *listed {
	slices.SortStableFunc(ops, func(a, b *Op) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Call, b.Call), cmp.Compare(a.Return, b.Return),
			cmp.Compare(a.ReturnSeq, b.ReturnSeq), cmp.Compare(class(a), class(b)))
	})
	return &listed{header: Header{Schema: Schema, Design: "d"}, events: sorted(ops), end: End{Trailer: Trailer{Ops: int64(len(ops))}}}
}

// sorted orders all events by (time, seq), and ties by simulation: all calls
// that may come, then all returns that may come, and again.
func sorted(ops []*Op) []Event {
	groups := map[[2]uint64][]Event{}
	for _, op := range ops {
		at := [2]uint64{uint64(op.Call), op.CallSeq}
		groups[at] = append(groups[at], Event{Call, op})
		if op.Return != Never && op.Kind < Lost {
			at = [2]uint64{uint64(op.Return), op.ReturnSeq}
			groups[at] = append(groups[at], Event{Return, op})
		}
	}
	var keys [][2]uint64
	for at := range groups {
		keys = append(keys, at)
	}
	slices.SortFunc(keys, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	var all []Event
	for _, at := range keys {
		all = append(all, played(groups[at], ops)...)
	}
	return all
}

// played orders events of one stamp. Operations are listed in the order their
// client made them.
func played(left []Event, ops []*Op) []Event {
	place := map[*Op]int{}
	for i, op := range ops {
		place[op] = i
	}
	var done []Event
	for phase := Call; len(left) > 0; phase = 1 - phase {
		var now, later []Event
		for _, ev := range left {
			if ev.Phase == phase && !slices.ContainsFunc(left, func(other Event) bool { return mustPrecede(other, ev, place) }) {
				now = append(now, ev)
			} else {
				later = append(later, ev)
			}
		}
		slices.SortFunc(now, func(a, b Event) int { return place[a.Op] - place[b.Op] })
		done, left = append(done, now...), later
	}
	return done
}

// mustPrecede reports whether a comes before b by their client's own order.
func mustPrecede(a, b Event, place map[*Op]int) bool {
	switch {
	case a.Op == b.Op:
		return a.Phase < b.Phase
	case a.Op.Client != b.Op.Client || a.Op.Kind == Renew || b.Op.Kind == Renew:
		return false
	}
	return a.Phase == Return && place[a.Op] < place[b.Op]
}

// invent makes a history in which stamps tie often and every field is used. The
// operations of a client come in its own order.
func invent(r *rand.Rand, clients, each int, seqs bool) []*Op {
	var ops []*Op
	for client := range int32(clients) {
		at := r.Int64N(5)
		for i := range each {
			op := randomOp(r)
			op.Client, op.Process, op.Stream = client, client/2, client+1
			op.Call = at
			at += r.Int64N(3)
			op.Return = at
			if op.event() {
				op.Return = op.Call
			}
			if op.Kind == Acquire {
				op.Intended = r.Int64N(op.Call + 1)
			}
			if seqs {
				op.CallSeq, op.ReturnSeq = r.Uint64N(2), r.Uint64N(2)+2
			}
			if i == each-1 && !op.event() && r.IntN(2) == 0 {
				op.Return, op.ReturnSeq = Never, 0
			}
			ops = append(ops, op)
		}
	}
	return ops
}

func randomOp(r *rand.Rand) *Op {
	some := func() int64 { return []int64{0, 0, 1, 2e9, -5, math.MaxInt64 >> r.IntN(60)}[r.IntN(6)] }
	return &Op{
		Kind: Kind(1 + r.IntN(len(kindNames)-1)), Outcome: Outcome(r.IntN(len(outcomeNames))), Late: r.IntN(5) == 0,
		Attempts: int32(r.IntN(3)), Key: []string{"", "a", "b", "\xff\x00", "a longer key"}[r.IntN(5)],
		Hold: some(), Attempt: some() - r.Int64N(2), Asked: some(), Granted: some(), Wait: some(), Delay: some(),
		Fence: uint64(some()), Value: some(), Version: uint64(some()), Base: uint64(some()),
		Note: []string{"", "timeout", "connection"}[r.IntN(3)],
	}
}

// sensible reduces operations to the fields of their kinds: lines have no more.
func sensible(ops []*Op) (all []*Op) {
	for _, op := range ops {
		c := Op{
			Kind: op.Kind, Outcome: op.Outcome, Client: op.Client, Process: op.Process, Stream: op.Stream, Key: op.Key, Hold: op.Hold,
			Call: op.Call, Return: op.Return, CallSeq: op.CallSeq, ReturnSeq: op.ReturnSeq, Attempt: NoStamp, Note: op.Note,
		}
		switch {
		case c.event():
			c.Outcome = OK
		case c.Return == Never:
			c.Outcome = Unknown
		}
		for _, f := range []struct {
			name string
			set  func()
		}{
			{"late", func() { c.Late = op.Late && c.Outcome == OK }},
			{"attempt_ns", func() { c.Attempt = max(NoStamp, min(op.Attempt, c.Return)) }},
			{"attempts", func() { c.Attempts = op.Attempts }},
			{"intended_ns", func() { c.Intended = op.Intended }},
			{"asked_ns", func() { c.Asked = max(0, op.Asked) }},
			{"granted_ns", func() { c.Granted = max(0, op.Granted) }},
			{"wait_ns", func() { c.Wait = max(0, op.Wait) }},
			{"delay_ns", func() { c.Delay = max(0, op.Delay) }},
			{"fence", func() { c.Fence = op.Fence }},
			{"value", func() { c.Value = op.Value }},
			{"version", func() { c.Version = op.Version }},
			{"base", func() { c.Base = op.Base }},
		} {
			if fieldKinds[f.name].has(c.Kind) {
				f.set()
			}
		}
		if c.Kind == Acquire && c.Outcome == Unknown && c.Hold == 0 { // it would get one
			c.Hold = 1
		}
		all = append(all, &c)
	}
	return all
}

// gather reads a source to its end.
func gather(src Source) ([]Event, error) {
	var all []Event
	for ev, err := range src.Events() {
		if err != nil {
			return all, err
		}
		all = append(all, ev)
	}
	return all, nil
}

func show(ev Event) string {
	return fmt.Sprintf("%d %+v", ev.Phase, *ev.Op)
}

// same fails the test unless two sources have the same content.
func same(t *testing.T, what string, got Source, want *listed) {
	t.Helper()
	events, err := gather(got)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := gocmp.Diff(texts(events), texts(want.events)); diff != "" {
		t.Fatalf("%s: events (-got +want):\n%s", what, diff)
	}
	if diff := gocmp.Diff(got.Header(), want.header); diff != "" {
		t.Fatalf("%s: header (-got +want):\n%s", what, diff)
	}
	if diff := gocmp.Diff(got.End(), want.end, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: end (-got +want):\n%s", what, diff)
	}
}

func texts(events []Event) []string {
	var all []string
	for _, ev := range events {
		all = append(all, show(ev))
	}
	return all
}

// through writes src in one format and opens the result.
func through(t *testing.T, src Source, write func(*bytes.Buffer, Source) error) Source {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, src); err != nil {
		t.Fatal(err)
	}
	again, err := NewSource(&b)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func toNative(b *bytes.Buffer, src Source) error {
	w, err := NewWriter(b, src.Header())
	if err != nil {
		return err
	}
	return finish(transcribe(src, w.sink), w.buffered)
}

func toJSONL(b *bytes.Buffer, src Source) error { return WriteJSONL(b, src) }

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		ops := invent(r, 1+r.IntN(5), 1+r.IntN(20), seed%2 == 0)
		want := complete(ops)
		same(t, "native", through(t, want, toNative), want)
		want = complete(sensible(ops))
		same(t, "JSON Lines", through(t, through(t, want, toNative), toJSONL), want)
		same(t, "native again", through(t, through(t, through(t, want, toNative), toJSONL), toNative), want)
	}
}

// A long history takes the path over epochs: blocks of 512 operations.
func TestRoundTripLong(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	ops := invent(r, 6, 700, false)
	want := complete(ops)
	same(t, "native", through(t, want, toNative), want)
	want = complete(sensible(ops))
	same(t, "JSON Lines", through(t, want, toJSONL), want)
}

func TestTies(t *testing.T) {
	acquire := func(client int32, call, ret int64) *Op {
		return &Op{Kind: Acquire, Client: client, Call: call, Return: ret}
	}
	release := func(client int32, call, ret int64) *Op {
		return &Op{Kind: Release, Client: client, Call: call, Return: ret}
	}
	tests := []struct {
		name string
		ops  []*Op
		want string // client and phase of each event
	}{
		{"calls before returns", []*Op{acquire(1, 0, 5), acquire(2, 5, 9)}, "1c 2c 1r 2r"},
		{"own return before own call", []*Op{acquire(1, 0, 5), release(1, 5, 9), acquire(2, 5, 8)}, "1c 2c 1r 1c 2r 1r"},
		{"all at one stamp", []*Op{acquire(1, 5, 5), release(1, 5, 5), acquire(2, 5, 5)}, "1c 2c 1r 2r 1c 1r"},
		{"stamps too far apart for one number", []*Op{acquire(1, 9, 1<<62), release(1, 1<<62, 1<<62+1), acquire(2, 0, 1<<62+1)}, "2c 1c 1r 1c 1r 2r"},
		{"events have a call only", []*Op{acquire(1, 0, 5), {Kind: Lost, Client: 1, Call: 5, Return: 5}}, "1c 1r 1c"},
		{"renewals keep no order", []*Op{{Kind: Renew, Client: 1, Call: 0, Return: 5}, release(1, 5, 6)}, "1c 1c 1r 1r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m merger
			for _, op := range tt.ops {
				if err := m.add(op); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			m.passAll(func(ev Event, _ error) bool {
				got += fmt.Sprintf(" %d%c", ev.Op.Client, "crx"[ev.Phase])
				return true
			})
			if got[1:] != tt.want {
				t.Errorf("order %q, want %q", got[1:], tt.want)
			}
		})
	}
}
