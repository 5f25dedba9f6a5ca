package reports

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/results"
)

func TestLimitSettles(t *testing.T) {
	granting := func(n int64) results.Run {
		return results.Run{RunFigures: results.RunFigures{Counts: results.Counts{Grants: n}}}
	}
	trials := []results.LimitTrial{
		{Value: 100, Outcome: limits.Holds, Run: granting(300)},
		{Value: 200, Outcome: limits.Fails, Why: "acquire.p99 was 31ms", Run: granting(500)},
		{Value: 100, Outcome: limits.Holds, Run: granting(301)},
	}
	found := limits.Result{Limit: 100, Beyond: 200, Why: limits.Fails, Confirmed: 2, Done: true}
	for _, c := range []struct {
		name     string
		change   func(*results.LimitSearch, *limits.Result)
		exit     int
		sentence string
	}{
		{"found", func(*results.LimitSearch, *limits.Result) {}, results.Passed,
			"d takes 100/s: acquire.p99<20ms held and no claim was broken in 2 of 2 runs, 601 grants. At 200/s acquire.p99 was 31ms."},
		{"interrupted", func(_ *results.LimitSearch, r *limits.Result) { r.Done, r.Confirmed = false, 1 }, results.Inconclusive,
			"d: 100/s held, and the search was ended before it could narrow that down and confirm it. At 200/s acquire.p99 was 31ms."},
		{"out of time", func(_ *results.LimitSearch, r *limits.Result) { r.Early = true }, results.Passed,
			"d takes 100/s: acquire.p99<20ms held and no claim was broken in 2 of 2 runs, 601 grants. At 200/s acquire.p99 was 31ms. The time was over before the limit was as precise as asked; hint: a larger --budget."},
		{"out of time, and a value failed once", func(_ *results.LimitSearch, r *limits.Result) { r.Early, r.Beyond = true, 0 }, results.Passed,
			"d takes at least 100/s: acquire.p99<20ms held and no claim was broken in 2 of 2 runs, 601 grants. At 200/s, which was not tried often enough to say, acquire.p99 was 31ms. The time was over before the limit was as precise as asked; hint: a larger --budget."},
		{"out of time, and nothing failed", func(l *results.LimitSearch, r *limits.Result) { r.Early, r.Beyond, l.Trials = true, 0, l.Trials[:1] }, results.Passed,
			"d takes at least 100/s: acquire.p99<20ms held and no claim was broken in 2 of 2 runs, 300 grants. Nothing further was tried. The time was over before the limit was as precise as asked; hint: a larger --budget."},
		{"out of time, and nothing held", func(_ *results.LimitSearch, r *limits.Result) { r.Early, r.Limit, r.Confirmed = true, 0, 0 }, results.Inconclusive,
			"d: no limit was found in time; hint: a larger --budget, or another first value. At 200/s acquire.p99 was 31ms."},
		{"a claim was broken on the way", func(l *results.LimitSearch, _ *limits.Result) {
			l.Trials[1].Run.Cells.Set(exclusive, results.Finding{Finding: checker.Finding{Verdict: checker.Broken, Violations: 1, Against: 1, Claimed: true}})
		}, results.BrokenClaim, "d takes 100/s: acquire.p99<20ms held and no claim was broken in 2 of 2 runs, 601 grants. At 200/s acquire.p99 was 31ms. On the way it broke exclusion, which it claims."},
		{"nothing broken on purpose was caught", func(l *results.LimitSearch, _ *limits.Result) {
			l.SelfCheck = &results.SelfCheck{}
		}, results.Inconclusive, "d takes 100/s: acquire.p99<20ms held and no claim was broken in 2 of 2 runs, 601 grants. At 200/s acquire.p99 was 31ms. But a lock broken on purpose was not caught, so what held proves nothing."},
		{"missed everywhere", func(_ *results.LimitSearch, r *limits.Result) { r.Limit, r.Confirmed = 0, 0 }, results.MissedTarget,
			"d: no limit was found. Even at 200/s acquire.p99 was 31ms."},
		{"the machine came to its end", func(_ *results.LimitSearch, r *limits.Result) { r.Limit, r.Confirmed, r.Why = 0, 0, limits.Unable }, results.Inconclusive,
			"d: no limit was found. Even at 200/s acquire.p99 was 31ms."},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := results.LimitSearch{LimitQuestion: results.LimitQuestion{Design: "d", Of: results.RateLimit, Wanted: []string{"acquire.p99<20ms"}}, Trials: append([]results.LimitTrial{}, trials...)}
			r := found
			c.change(&l, &r)
			l.Settle(r)
			if l.Exit != c.exit || l.Sentence != c.sentence {
				t.Errorf("exit %d, %q; want %d, %q", l.Exit, l.Sentence, c.exit, c.sentence)
			}
		})
	}
}
