package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// TestRecommend checks that the fastest of the safest locks is recommended; of locks about as fast,
// the one with the fewest breaches, and then the one with the fewest open questions.
func TestRecommend(t *testing.T) {
	type of struct {
		name     string
		word     conclusion.Word
		rate     float64
		breaches int64
		open     int
	}
	for _, c := range []struct {
		name        string
		runs        []of
		want, price string
	}{
		{"the fastest of the safest", []of{{"a", conclusion.NeedsGuard, 900, 0, 0}, {"b", conclusion.Safe, 500, 0, 0}, {"c", conclusion.Safe, 300, 0, 0}}, "b", "44 % slower than a, where it breaks"},
		{"as fast, and broke less", []of{{"a", conclusion.NeedsGuard, 510, 9, 0}, {"b", conclusion.NeedsGuard, 500, 0, 3}}, "b", ""},
		{"as fast, and tried more", []of{{"a", conclusion.NeedsGuard, 510, 0, 2}, {"b", conclusion.NeedsGuard, 500, 0, 0}}, "b", ""},
		{"broke less, and slower", []of{{"a", conclusion.NeedsGuard, 510, 9, 0}, {"b", conclusion.NeedsGuard, 400, 0, 0}}, "a", ""},
		{"safer, and broke more", []of{{"a", conclusion.Safe, 500, 9, 3}, {"b", conclusion.NeedsGuard, 500, 0, 0}}, "a", ""},
		{"with a guard", []of{{"a", conclusion.NeedsGuard, 500, 9, 0}, {"b +cas", conclusion.NeedsGuard, 500, 0, 0}}, "b +cas", ""},
		{"none to use", []of{{"a", conclusion.DoNotUse, 500, 0, 0}, {"b", conclusion.NotKnown, 500, 0, 0}}, "", ""},
		{"no choice", []of{{"a", conclusion.Safe, 500, 0, 0}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Result
			for _, o := range c.runs {
				run := Run{Breaches: o.breaches, Conclusion: &conclusion.Conclusion{Word: o.word, Why: "it breaks"}}
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
			if found := r.recommend(); found != nil {
				got = *found
			}
			if i := slices.IndexFunc(r.Runs, func(run Run) bool { return r.recommend().Of(&run) }); (i >= 0) != (c.want != "") || i >= 0 && (Label{}).Of(&r.Runs[i]) != c.want {
				t.Errorf("run %d is that of the lock to take, want %q", i, c.want)
			}
			if got.Design != c.want || got.Price != c.price {
				t.Errorf("take %q, price %q; want %q, %q", got.Design, got.Price, c.want, c.price)
			}
		})
	}
}
