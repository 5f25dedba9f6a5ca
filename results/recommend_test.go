package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// TestRecommend checks that one of the safest locks is recommended: one that was tried enough, and of
// those the first that is about as fast as the fastest.
func TestRecommend(t *testing.T) {
	type of struct {
		name string
		word conclusion.Word
		rate float64
		open int
	}
	for _, c := range []struct {
		name        string
		runs        []of
		want, price string
	}{
		{"the fastest of the safest", []of{{"a", conclusion.NeedsGuard, 2000, 0}, {"c", conclusion.Safe, 199, 0}, {"b", conclusion.Safe, 500, 0}}, "b", "75 % slower than a, where it breaks"},
		{"about as fast, and first in the catalogue", []of{{"a", conclusion.NeedsGuard, 201, 0}, {"b", conclusion.NeedsGuard, 500, 0}}, "a", ""},
		{"as fast, and tried more", []of{{"a", conclusion.NeedsGuard, 510, 2}, {"b", conclusion.NeedsGuard, 500, 0}}, "b", ""},
		{"slower, and tried more", []of{{"a", conclusion.NeedsGuard, 500, 2}, {"b", conclusion.NeedsGuard, 100, 0}}, "b", "80 % slower than a, where it breaks"},
		{"all tried too little", []of{{"a", conclusion.NeedsGuard, 100, 2}, {"b", conclusion.NeedsGuard, 500, 9}}, "b", ""},
		{"safer, and tried less", []of{{"a", conclusion.Safe, 500, 3}, {"b", conclusion.NeedsGuard, 500, 0}}, "a", ""},
		{"with a guard", []of{{"a", conclusion.NeedsGuard, 500, 0}, {"b +cas", conclusion.NeedsGuard, 500, 0}}, "b +cas", ""},
		{"none to use", []of{{"a", conclusion.DoNotUse, 500, 0}, {"b", conclusion.NotKnown, 500, 0}}, "", ""},
		{"no choice", []of{{"a", conclusion.Safe, 500, 0}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tried := func(run *Run) bool { return len(run.Conclusion.Open) == 0 }
			var r Result
			for _, o := range c.runs {
				run := Run{Conclusion: &conclusion.Conclusion{Word: o.word, Why: "it breaks"}}
				run.Design, run.GrantsPerS = o.name, o.rate
				if name, guard, guarded := strings.Cut(o.name, " +"); guarded {
					run.Design, run.Params = name, map[string]any{"guard": guard}
				}
				for range o.open {
					run.Conclusion.Open = append(run.Conclusion.Open, conclusion.Open{Under: lockbench.Pause})
				}
				r.Runs = append(r.Runs, run)
			}
			got := Recommendation{}
			if found := r.recommend(tried); found != nil {
				got = *found
			}
			if i := slices.IndexFunc(r.Runs, func(run Run) bool { return r.recommend(tried).Of(&run) }); (i >= 0) != (c.want != "") || i >= 0 && (Label{}).Of(&r.Runs[i]) != c.want {
				t.Errorf("run %d is that of the lock to take, want %q", i, c.want)
			}
			if got.Design != c.want || got.Price != c.price {
				t.Errorf("take %q, price %q; want %q, %q", got.Design, got.Price, c.want, c.price)
			}
		})
	}
}

// TestRecommendByReleasedSpeeds checks that the released matrix, if it has all locks, decides by its
// speeds and not one run by its own.
func TestRecommendByReleasedSpeeds(t *testing.T) {
	tried := func(*Run) bool { return true }
	for _, c := range []struct {
		name   string
		second *Known
		want   string
	}{
		{"of all locks", &Known{Parts: Parts{{Name: "live", Run: Run{RunFigures: RunFigures{GrantsPerS: 1000}}}}}, "b"},
		{"of one lock only", nil, "a"},
	} {
		var r Result
		for i, known := range []*Known{{Parts: Parts{{Name: "live", Run: Run{RunFigures: RunFigures{GrantsPerS: 100}}}}}, c.second} {
			run := Run{Known: known, Conclusion: &conclusion.Conclusion{Word: conclusion.Safe, Why: "it holds"}}
			run.Design, run.GrantsPerS = string(rune('a'+i)), float64(9000-8000*i)
			r.Runs = append(r.Runs, run)
		}
		if got := r.recommend(tried); got == nil || got.Design != c.want {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
	}
}
