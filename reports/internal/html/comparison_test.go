package html_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

// repeated returns n results of the first run of run.json, at times that alternate with
// the other side's; change changes each of them.
func repeated(t testing.TB, n, side int, change func(i int, run *results.Run)) (all []results.Result) {
	t.Helper()
	for i := range n {
		r := read(t, "run.json")
		r.Runs = r.Runs[:1]
		r.SelfCheck = nil
		run := &r.Runs[0]
		run.Started = fmt.Sprintf("2026-11-02T10:%02d:%02dZ", i, 10+20*((i+side)%2))
		run.GrantsPerS = 1000 + 10*float64(i)
		change(i, run)
		all = append(all, *r)
	}
	return all
}

// keepsExclusion makes a run claim exclusion and hold it.
func keepsExclusion(_ int, run *results.Run) {
	run.Cells.Set(lockbench.Exclusion.At(0), results.Finding{Finding: checker.Finding{Verdict: checker.Held, Claimed: true, Exercised: true, Exposure: 100}})
}

// twiceAsSlow makes a run take twice the time for a grant.
func twiceAsSlow(_ int, run *results.Run) {
	run.GrantsPerS /= 2
	l := run.Latency["acquire"]
	l.P50 *= 2
	run.Latency["acquire"] = l
}

func comparisonOf(t testing.TB, base, changed []results.Result) *results.Comparison {
	t.Helper()
	c, err := results.Compare(base, changed, results.CompareOptions{Limits: []results.Limit{{Metric: "grants_per_s", Share: 0.1}}})
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// worseComparison returns a comparison in which a claim is broken and everything takes
// twice as long.
func worseComparison(t testing.TB) *results.Comparison {
	return comparisonOf(t, repeated(t, 8, 0, keepsExclusion), repeated(t, 8, 1, twiceAsSlow))
}

func TestWriteComparison(t *testing.T) {
	same := comparisonOf(t, repeated(t, 8, 0, func(int, *results.Run) {}), repeated(t, 8, 1, func(int, *results.Run) {}))
	few := comparisonOf(t, repeated(t, 1, 0, keepsExclusion), repeated(t, 1, 1, keepsExclusion))
	for _, c := range []struct {
		name string
		c    *results.Comparison
		want []string
	}{
		{"worse", worseComparison(t), []string{
			`<h1 id="verdict">Worse</h1>`, "1 cell that is claimed: exclusion", `<a href="#changed-1">▼ WORSE</a>`, `data-picture="changed-1"`, "held in 8 runs, claimed", "broken in 8 of 8 runs",
			"-50.0%", "▼</span> worse", `aria-label="grants_per_s; base: 8 runs from 1000/s to 1070/s, median 1035/s; new: 8 runs from 500/s to 535/s, median 518/s"`, "<strong>PASSED</strong>",
		}},
		{"the same", same, []string{`<h1 id="verdict">No claim is worse</h1>`, "No difference in speed seen", "no difference seen</span>", "<strong>kept</strong>"}},
		{"too few runs", few, []string{`<h1 id="verdict">Inconclusive</h1>`, `class="verdict open"`, "are too few to tell a difference", "too few runs</span>"}},
		{"other settings", comparisonOf(t, repeated(t, 8, 0, keepsExclusion), repeated(t, 8, 1, func(i int, run *results.Run) {
			keepsExclusion(i, run)
			run.Params["clients"] = 99
		})), []string{"<strong>differs</strong> clients:", "speeds are not compared across it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := written(t, c.c)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in the page", want)
				}
			}
			linksLead(t, got)
			if found := elsewhere.FindString(got); found != "" {
				t.Errorf("the page refers elsewhere: %s", found)
			}
			first, figures := strings.Index(got, `id="guarantees"`), strings.Index(got, "figures compared")
			if figures >= 0 && first > figures {
				t.Error("figures come before the guarantees")
			}
		})
	}
}

// mark finds the dots of the runs of BASE.
var mark = regexp.MustCompile(`<circle class="dot" cx="([0-9.]+)"`)

// TestStrip checks that every run stays within the picture, even if all are alike.
func TestStrip(t *testing.T) {
	for name, c := range map[string]*results.Comparison{
		"apart": worseComparison(t),
		"alike": comparisonOf(t, repeated(t, 3, 0, func(_ int, run *results.Run) { run.GrantsPerS = 7 }), repeated(t, 3, 1, func(_ int, run *results.Run) { run.GrantsPerS = 7 })),
	} {
		found := mark.FindAllStringSubmatch(written(t, c), -1)
		if len(found) < c.Designs[0].BaseRuns {
			t.Fatalf("%s: got %d marks, want one for each of %d runs", name, len(found), c.Designs[0].BaseRuns)
		}
		for _, m := range found {
			if x, err := strconv.ParseFloat(m[1], 64); err != nil || x < 32 || x > 212 {
				t.Errorf("%s: a mark at %s", name, m[1])
			}
		}
	}
}

// spoiledComparison returns a comparison with hostile code in place of every name.
func spoiledComparison(t testing.TB) *results.Comparison {
	spoil := func(_ int, run *results.Run) {
		other := spoiled(t).Runs[0]
		other.Started, other.GrantsPerS, other.Error = run.Started, run.GrantsPerS, ""
		other.Defects = nil
		*run = other
	}
	c := comparisonOf(t, repeated(t, 8, 0, func(i int, run *results.Run) { spoil(i, run); keepsExclusion(i, run) }), repeated(t, 8, 1, spoil))
	c.Notes, c.Open, c.BaseOnly = []string{hostile}, []string{hostile}, []string{hostile}
	c.Differences = []results.Difference{{What: hostile, Base: hostile, New: "b"}}
	return c
}

func TestComparisonEscapes(t *testing.T) { escaped(t, written(t, spoiledComparison(t))) }
