package checker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// TestNews judges many histories with a question for news after every event. It must not
// change the judgement, and tell nothing that does not stand in the end.
func TestNews(t *testing.T) {
	told, broken := 0, 0
	for seed := range uint64(*histories / 20) {
		fault := sound
		if seed%3 > 0 {
			fault = blame[seed%uint64(len(blame))].fault
		}
		s := simulate(seed, fault)
		want, err := Check(s)
		if err != nil {
			t.Fatal(err)
		}
		c, early := New(s.Header()), map[lockbench.Guarantee]Finding{}
		for ev := range s.Events() {
			c.Add(ev)
			for _, f := range c.News() {
				if _, again := early[f.Guarantee]; again || f.Witness == nil {
					t.Fatalf("seed %d: %s told twice, or without a witness\n%s", seed, f.Guarantee, s.describe())
				}
				early[f.Guarantee] = f
			}
		}
		got := c.Finish(s.End())
		want.CrossChecked = got.CrossChecked // the search gives up where the machine is busy
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("seed %d (-asked +not asked):\n%s\n%s", seed, diff, s.describe())
		}
		for g := range early {
			if want.Find(g).Verdict != Broken {
				t.Errorf("seed %d: %s was told broken and is %v\n%s", seed, g, want.Find(g).Verdict, s.describe())
			}
		}
		told += len(early)
		for _, f := range want.Findings {
			if f.Verdict == Broken {
				broken++
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
