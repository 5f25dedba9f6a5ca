package checker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestNews judges many histories with a question for news after every event. It must not
// change the judgement, and report nothing that does not stand in the end.
func TestNews(t *testing.T) {
	told, broken := 0, 0
	for seed := range uint64(*histories / 20) {
		fault := sound
		if seed%3 > 0 {
			fault = expectations[seed%uint64(len(expectations))].fault
		}
		s := simulate(seed, fault)
		want, err := Check(s)
		if err != nil {
			t.Fatal(err)
		}
		c, early := New(s.Header()), map[lockbench.Cell]CellFinding{}
		for ev := range s.Events() {
			c.Add(ev)
			for _, f := range c.News() {
				if _, again := early[f.Cell]; again || f.Counterexample == nil {
					t.Fatalf("seed %d: %s told twice, or without a counterexample\n%s", seed, f.Cell, s.describe())
				}
				early[f.Cell] = f
			}
		}
		got := c.Finish(s.End())
		want.CrossChecked = got.CrossChecked // the search gives up on a busy machine
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("seed %d (-asked +not asked):\n%s\n%s", seed, diff, s.describe())
		}
		for g := range early {
			if want.Find(g).Verdict != Broken {
				t.Errorf("seed %d: %s was told broken and is %v\n%s", seed, g, want.Find(g).Verdict, s.describe())
			}
		}
		for _, f := range want.Findings {
			if f.Verdict != Broken || f.Cell.Under.Has(lockbench.Outlived) { // work past a lease is judged when it ends
				continue
			}
			if broken++; early[f.Cell].Verdict == Broken {
				told++
			}
		}
	}
	t.Logf("%d of %d told before the end", told, broken)
	if told*10 < broken*9 {
		t.Errorf("%d of %d broken guarantees told before the end, want nearly all", told, broken)
	}
}

func TestNewsCostsNothing(t *testing.T) {
	events, _ := busyHistory(1000)
	c := New(memory{}.header)
	for _, grant := range events {
		for _, ev := range grant {
			c.Add(ev)
		}
	}
	if n := testing.AllocsPerRun(100, func() { c.News() }); n != 0 {
		t.Errorf("%v allocations where there is no news, want none", n)
	}
}

// TestNewsOfWhatNobodyAskedFor judges a lease that a renewal extended and the lock did not
// keep, before any owner extends one: it is told at once.
func TestNewsOfWhatNobodyAskedFor(t *testing.T) {
	h := parseText(t, `
A 0-1 acquire ok ttl=10
A 5-6 renew ok ttl=10
B 11-12 acquire ok ttl=10
B 13-14 release ok
A 15-16 release lost
A 20-21 acquire ok ttl=10
A 22-23 extend ok ttl=10
A 24-25 release ok`)
	c, told := New(h.header), false
	for ev := range h.source().Events() {
		c.Add(ev)
		for _, f := range c.News() {
			told = told || f.Cell == lockbench.LeaseKept.At(0)
		}
	}
	if got := c.Finish(history.End{}).Find(lockbench.LeaseKept.At(0)).Verdict; got != Broken || !told {
		t.Errorf("got %v, told before the end: %t; want broken and told", got, told)
	}
}

// TestReadingUnveilsNothing keeps an acquire of unknown outcome from becoming a hold
// because another client reads the guarded record.
func TestReadingUnveilsNothing(t *testing.T) {
	h := parseText(t, `
A 0-1 acquire unknown ttl=10
B 20-21 acquire ok ttl=10
B 22-23 read ok version=1
B 24-25 write ok version=2 base=1`)
	c := New(h.header)
	for ev := range h.source().Events() {
		c.Add(ev)
	}
	if got := len(c.key("k").deferred); got != 1 {
		t.Errorf("got %d deferred holds, want A's", got)
	}
}
