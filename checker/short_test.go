package checker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// shortHistory is one of the many that exploring makes: three clients, two rounds
// each, a refusal before each grant but the first, an overrun and a late release.
const shortHistory = `
A 0-1 acquire ok ttl=10 fence=1
B 0-1 acquire refused
C 1-2 acquire refused
A 2-3 release ok
B 3-4 acquire ok ttl=10 fence=2
C 4-5 acquire refused
A 4-5 acquire refused
B 5-6 extend ok ttl=10
B 6-7 release ok
C 7-8 acquire ok ttl=10 fence=3
A 18-19 acquire ok ttl=10 fence=4
C 20-21 release lost
B 21-22 acquire refused
A 22-23 release ok
B 24-25 acquire ok ttl=10 fence=5
B 26-27 release ok
C 28-29 acquire ok ttl=10 fence=6
C 30-31 release ok
A 32-33 acquire ok ttl=10 fence=7
A 34-35 release ok
`

// BenchmarkShortHistory judges a history of 20 operations, as explore does for
// each schedule.
func BenchmarkShortHistory(b *testing.B) {
	h := parseText(b, shortHistory)
	var events []history.Event
	for ev := range h.source().Events() {
		events = append(events, ev)
	}
	for _, mode := range []struct {
		name string
		make func(history.Header) *Checker
	}{{"full", New}, {"brief", NewBrief}} {
		b.Run(mode.name, func(b *testing.B) {
			c := mode.make(h.header)
			b.ReportAllocs()
			for b.Loop() {
				c.Reset(h.header)
				for _, ev := range events {
					c.Add(ev)
				}
				if c.Finish(history.End{}).Grants != 7 {
					b.Fatal("not judged")
				}
			}
		})
	}
}

// soundHistory is shortHistory without its overrun.
var soundHistory = strings.NewReplacer("A 18-19", "A 12-13", "C 7-8 acquire ok ttl=10 fence=3\n", "C 7-8 acquire ok ttl=10 fence=3\nC 9-10 release ok\n", "C 20-21 release lost\n", "").Replace(shortHistory)

// TestBriefAllocatesNothing judges one short history again and again with one Checker, which
// has all the memory that it needs after the first. A violation costs one allocation.
func TestBriefAllocatesNothing(t *testing.T) {
	for _, c := range []struct {
		name, text string
		violations int64
	}{{"sound", soundHistory, 0}, {"an overrun", shortHistory, 1}} {
		t.Run(c.name, func(t *testing.T) {
			h := parseText(t, c.text)
			var events []history.Event
			for ev := range h.source().Events() {
				events = append(events, ev)
			}
			brief, violations := NewBrief(h.header), int64(0)
			judge := func() {
				brief.Reset(h.header)
				for _, ev := range events {
					brief.Add(ev)
				}
				violations = 0
				for _, f := range brief.Finish(history.End{}).Findings {
					violations += f.Violations
				}
			}
			for range 100 {
				judge()
			}
			if n := testing.AllocsPerRun(1000, judge); n > float64(c.violations) || violations != c.violations {
				t.Errorf("%v allocations for %d violations, want at most %d for as many", n, violations, c.violations)
			}
		})
	}
}

// TestBriefSaysTheSame judges many histories with one brief Checker, reset before
// each, and with a Checker of their own: nothing may be left of the one before.
func TestBriefSaysTheSame(t *testing.T) {
	brief := NewBrief(history.Header{})
	faults := []mutation{sound}
	for _, b := range expectations {
		faults = append(faults, b.fault)
	}
	for seed := range uint64(*histories / 20) {
		s := simulate(seed, faults[seed%uint64(len(faults))])
		want, err := Check(s)
		if err != nil {
			t.Fatal(err)
		}
		brief.Reset(s.Header())
		for ev := range s.Events() {
			brief.Add(ev)
		}
		got := brief.Finish(s.End())
		want.CrossChecked, want.GrantsByClient = 0, nil
		for i := range want.Findings {
			w, g := &want.Findings[i], got.Findings[i]
			w.Counterexample, w.Measures, w.Note, w.When = nil, nil, g.Note, series.Counts{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-own +brief):\n%s\n%s", seed, diff, s.describe())
		}
	}
}
