package checker

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// Histories in text, one operation a line:
//
//	A 0-2 acquire ok ttl=10 attempt=1     client, call-return in ms, kind, outcome, more
//	A 0-2 acquire ok ttl=?                the lease is not told
//	B 3-never acquire unknown             never returned
//	A 5:1-5:2 release ok                  5 ms, sequence numbers 1 and 2
//	A 7 death                             an event
//	A 7 fault lost-reply                  a fault that affects A; "-" is the server
//
// An acquire begins a new hold unless its client has one open and the history is
// nested or refreshed, or says again; other operations belong to the client's
// newest hold, or to hold=N, its N-th. A line "#! key=value ..." sets the header
// and what is wanted of exact cells: "#! reacquire=nested renews partial others exclusion=broken
// exclusion@outlived=held"; "claims=+exclusion@outlived fails=yes" that something counts
// against these claims.

// textHistory is a parsed text history.
type textHistory struct {
	header  history.Header
	ops     []*history.Op
	partial bool
	want    map[lockbench.Cell]string
	fails   string // "yes" or "no": whether something counts against the claims
	holds   map[int32][]int64
	open    map[int32]int
}

const unit = int64(time.Millisecond)

func parseText(t testing.TB, text string) *textHistory {
	t.Helper()
	h := &textHistory{
		want: map[lockbench.Cell]string{}, holds: map[int32][]int64{}, open: map[int32]int{},
		header: history.Header{Reacquire: "refused", Claims: lockbench.Claims{}},
	}
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		var err error
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case fields[0] == "#!":
			err = h.setting(fields[1:])
		default:
			err = h.operation(fields)
		}
		if err != nil {
			t.Fatalf("line %d %q: %v", n+1, line, err)
		}
	}
	return h
}

func (h *textHistory) setting(fields []string) error {
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "reacquire":
			h.header.Reacquire = value
		case "renews":
			h.header.Renews = true
		case "unseen":
			h.header.RenewsUnseen = true
		case "tolerance", "wakes":
			ms, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return err
			}
			if name == "wakes" {
				h.header.WakesNS = ms * unit
			} else {
				h.header.ToleranceNS = ms * unit
			}
		case "faults":
			h.header.Faults = strings.Split(value, ",")
		case "partial":
			h.partial = true
		case "others":
			h.header.Others = true
		case "claims":
			claims, err := h.header.Claims.Parse(value)
			if err != nil {
				return err
			}
			h.header.Claims = claims
		case "fails":
			h.fails = value
		default:
			cell, err := lockbench.ParseCell(name)
			if err != nil {
				return fmt.Errorf("unknown setting %q: %w", f, err)
			}
			h.want[cell] = value
		}
	}
	return nil
}

func (h *textHistory) operation(fields []string) error {
	op := &history.Op{Client: int32(fields[0][0]-'A') + 1, Key: "k", Attempt: history.NoStamp}
	if fields[0] == "-" {
		op.Client = -1
	}
	op.Stream, op.Process = op.Client, op.Client
	from, to, spans := strings.Cut(fields[1], "-")
	var err error
	if op.Call, op.CallSeq, err = parseStamp(from); err != nil {
		return err
	}
	op.Return, op.ReturnSeq = op.Call, op.CallSeq
	if spans {
		if op.Return, op.ReturnSeq, err = parseStamp(to); err != nil {
			return err
		}
	}
	if err := op.Kind.UnmarshalText([]byte(fields[2])); err != nil {
		return err
	}
	rest := fields[3:]
	if op.Kind < history.Lost {
		if err := op.Outcome.UnmarshalText([]byte(fields[3])); err != nil {
			return err
		}
		rest = fields[4:]
	}
	if op.Kind == history.Fault {
		op.Note, op.Key, rest = fields[3], "", fields[4:]
		op.Stream += 200                                     // it occurs in the middle of its client's call
		if fault.EventOf(op.Note).Act != fault.StandsStill { // which nobody injects
			h.header.Faults = append(h.header.Faults, op.Note)
		}
	}
	if op.Kind == history.Pause || op.Kind == history.Resume {
		op.Stream += 400 // it may come in the middle of its client's call
	}
	return h.details(op, rest)
}

func (h *textHistory) details(op *history.Op, fields []string) error {
	again, number := false, 0
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if f == "ttl=?" {
			op.Granted = history.NotTold
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil && name != "again" && name != "unanchored" && name != "key" && name != "note" {
			return fmt.Errorf("%q: %w", f, err)
		}
		ns := int64(n * float64(unit))
		switch name {
		case "ttl":
			op.Asked, op.Granted = ns, ns
		case "attempt":
			op.Attempt = ns
		case "wait":
			op.Wait = ns
		case "unanchored":
			op.Wait = unit
		case "delay":
			op.Delay = ns
		case "fence":
			op.Fence = uint64(n)
		case "version":
			op.Version = uint64(n)
		case "base":
			op.Base = uint64(n)
		case "hold":
			number = int(n)
		case "again":
			again = true
		case "key":
			op.Key = value
		case "note":
			op.Note = value
		case "asked":
			op.Asked = ns
		case "process":
			op.Process = int32(n)
		case "value":
			op.Value = int64(n)
		case "attempts":
			op.Attempts = int32(n)
		case "ahead", "lasting":
			op.Value = ns
		default:
			return fmt.Errorf("unknown detail %q", f)
		}
	}
	h.attach(op, again, number)
	h.ops = append(h.ops, op)
	return nil
}

// attach names the hold that op belongs to.
func (h *textHistory) attach(op *history.Op, again bool, number int) {
	c := op.Client
	granted := op.Outcome == history.OK || op.Outcome == history.Unknown
	if op.Kind == history.Acquire && !granted {
		return
	}
	if again = again || h.header.Reacquire != "refused" && h.open[c] > 0; op.Kind == history.Acquire && !again {
		h.holds[c] = append(h.holds[c], int64(c)<<32|int64(len(h.holds[c])+1))
		h.open[c] = 0
	}
	switch {
	case op.Kind == history.Acquire && op.Outcome == history.OK && (h.open[c] == 0 || h.header.Reacquire == "nested"):
		h.open[c]++
	case op.Kind == history.Release:
		h.open[c] = max(0, h.open[c]-1)
	}
	if n := len(h.holds[c]); number > 0 {
		op.Hold = h.holds[c][number-1]
	} else if n > 0 && op.Kind != history.Death && op.Kind != history.Fault {
		op.Hold = h.holds[c][n-1]
	}
}

func parseStamp(s string) (int64, uint64, error) {
	if s == "never" {
		return history.Never, 0, nil
	}
	ms, seq, sequenced := strings.Cut(s, ":")
	t, err := strconv.ParseFloat(ms, 64)
	if err != nil || !sequenced {
		return int64(t * float64(unit)), 0, err
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	return int64(t * float64(unit)), n, err
}

// memory is a history in memory, ordered by the plainest of means.
type memory struct {
	header history.Header
	ops    []*history.Op
	cuts   []*history.Op
	end    history.End
}

func (m memory) Header() history.Header { return m.header }
func (m memory) End() history.End       { return m.end }

// Events merges the clients' own sequences by stamp, calls before returns.
func (m memory) Events() iter.Seq2[history.Event, error] {
	queues := map[int32][]history.Event{}
	for _, op := range m.ops {
		queues[op.Stream] = append(queues[op.Stream], history.Event{Phase: history.Call, Op: op})
		if op.Return != history.Never && op.Kind < history.Lost {
			queues[op.Stream] = append(queues[op.Stream], history.Event{Phase: history.Return, Op: op})
		}
	}
	for _, op := range m.cuts {
		queues[op.Stream] = append(queues[op.Stream], history.Event{Phase: history.Cut, Op: op})
	}
	if len(m.ops) > 0 && m.ops[0].CallSeq > 0 { // numbered: one stream may be two clients' at once
		return ordered(slices.Concat(slices.Collect(maps.Values(queues))...))
	}
	return func(yield func(history.Event, error) bool) {
		for {
			best := int32(-1)
			for id, q := range queues {
				if len(q) > 0 && (best < 0 || order(q[0], queues[best][0]) < 0 || order(q[0], queues[best][0]) == 0 && id < best) {
					best = id
				}
			}
			if best < 0 || !yield(queues[best][0], nil) {
				return
			}
			queues[best] = queues[best][1:]
		}
	}
}

// ordered yields events in the order of their stamps.
func ordered(events []history.Event) iter.Seq2[history.Event, error] {
	slices.SortStableFunc(events, order)
	return func(yield func(history.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func order(a, b history.Event) int {
	x, y := stampOf(a), stampOf(b)
	return cmp.Or(cmp.Compare(x.T, y.T), cmp.Compare(x.Seq, y.Seq), cmp.Compare(a.Phase, b.Phase))
}

func stampOf(ev history.Event) interval.Stamp {
	switch ev.Phase {
	case history.Return:
		return interval.Return(ev.Op)
	case history.Cut: // comes after all else of its instant
		return interval.Stamp{T: ev.Op.Call, Seq: math.MaxUint64}
	}
	return interval.Call(ev.Op)
}

// source makes a Source of h; a partial one is cut at each client's last stamp.
func (h *textHistory) source() memory {
	m := memory{header: h.header, ops: h.ops}
	if !h.partial {
		return m
	}
	m.end = history.End{Partial: true, Why: "the test says so"}
	last := map[int32]int64{}
	for _, op := range h.ops {
		if last[op.Client] = max(last[op.Client], op.Call); op.Return != history.Never {
			last[op.Client] = max(last[op.Client], op.Return)
		}
	}
	for client, at := range last {
		m.cuts = append(m.cuts, &history.Op{Client: client, Stream: client, Call: at, Return: at})
	}
	return m
}
