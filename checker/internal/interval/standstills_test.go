package interval

import (
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

const ms = int64(1e6)

// TestTable: overlapping standstills count once, and only between two stamps.
func TestTable(t *testing.T) {
	var table Standstills
	if table.Met(0, 1<<62) {
		t.Error("an empty table met something")
	}
	for _, s := range []Span{{10, 20}, {15, 30}, {30, 35}, {50, 60}, {40, 70}, {65, 65}} {
		table.Add(s.From, s.Until)
	}
	if table.Times != 2 || table.For != 55 || table.Longest != 30 {
		t.Errorf("%d times for %d, longest %d; want 2 for 55, longest 30", table.Times, table.For, table.Longest)
	}
	for _, c := range []struct{ from, until, want int64 }{{0, 10, 0}, {0, 11, 1}, {12, 14, 2}, {35, 40, 0}, {34, 41, 2}, {0, 100, 55}, {70, 100, 0}, {60, 50, 0}} {
		if got := table.Within(c.from, c.until); got != c.want || table.Met(c.from, c.until) != (c.want > 0) {
			t.Errorf("from %d to %d: %d, want %d", c.from, c.until, got, c.want)
		}
	}
}

// TestTableForgets: a forgotten standstill may have been within.
func TestTableForgets(t *testing.T) {
	var table Standstills
	for i := range int64(maxSpans + 10) {
		table.Add(10*i, 10*i+1)
	}
	if table.Times != maxSpans+10 || table.For != maxSpans+10 || len(table.spans) != maxSpans {
		t.Errorf("%d times for %d, %d keptStandstills", table.Times, table.For, len(table.spans))
	}
	if got := table.Within(95, 1<<40); got != maxSpans {
		t.Errorf("since the first that is remembered: %d, want %d", got, maxSpans)
	}
	if got := table.Within(85, 1<<40); got != maxSpans+6 { // one of them, and at most 6 of the forgotten ones
		t.Errorf("since before it: %d, want %d", got, maxSpans+6)
	}
}

// step is a call or return of a history, at ms.
type step struct {
	kind   history.Kind
	client int32
	at     int64
	phase  history.Phase
	seq    uint64
}

// TestGaps: only a live run in which nobody was served while a client waited for the store stood
// still.
func TestGaps(t *testing.T) {
	live := history.Header{Server: runinfo.Server{Kind: "private"}, Environment: runinfo.Environment{OS: "linux"}}
	reads := func(more ...step) []step {
		return append([]step{{kind: history.Acquire, at: 100}, {kind: history.Read, client: 1, at: 101}}, more...)
	}
	answered := step{kind: history.Read, client: 1, at: 400, phase: history.Return}
	for name, c := range map[string]struct {
		header history.Header
		steps  []step
		want   Span
	}{
		"nobody was served":             {live, reads(answered), Span{101 * ms, 400 * ms}},
		"somebody was, meanwhile":       {live, reads(step{kind: history.Acquire, client: 2, at: 110}, answered), Span{110 * ms, 400 * ms}},
		"no gap":                        {live, reads(step{kind: history.Read, client: 1, at: 115, phase: history.Return}), Span{}},
		"nobody waited for the store":   {live, []step{{kind: history.Acquire, at: 100}, {kind: history.Acquire, at: 400, phase: history.Return}}, Span{}},
		"who waited stood still itself": {live, reads(step{kind: history.Pause, client: 1, at: 102}, answered), Span{}},
		"who stood still goes on":       {live, reads(step{kind: history.Pause, client: 1, at: 102}, step{kind: history.Resume, client: 1, at: 103}, answered), Span{101 * ms, 400 * ms}},
		"in virtual time":               {live, reads(step{kind: history.Read, client: 1, at: 400, phase: history.Return, seq: 7}), Span{}},
		"of another's history":          {history.Header{}, reads(answered), Span{}},
	} {
		t.Run(name, func(t *testing.T) {
			gaps, found := NewGaps(c.header), Span{}
			for _, s := range c.steps {
				op := &history.Op{Kind: s.kind, Client: s.client, Call: s.at * ms, Return: s.at * ms, CallSeq: s.seq}
				if gap, is := gaps.Next(history.Event{Phase: s.phase, Op: op}); is {
					found = gap
				}
			}
			if found != c.want {
				t.Errorf("got %v, want %v", found, c.want)
			}
		})
	}
}
