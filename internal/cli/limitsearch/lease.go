package limitsearch

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// Lease returns a search for the shortest lease that none of a number of holds outlives. With the
// given confidence, at most the share risk of all holds outlives that lease.
func Lease(holds int64, risk, confidence float64, steps *limits.Search) *Search {
	s := &Search{
		steps: steps,
		limit: results.LimitSearch{
			LimitQuestion: results.LimitQuestion{Of: results.LeaseLimit, Wanted: []string{"no hold outlives the lease"}},
			LimitAnswer:   results.LimitAnswer{Holds: holds, Confidence: confidence, Risk: risk},
		},
		change: func(o *workloads.Options, v float64) { o.TTL, o.NestedTTL = time.Duration(v), time.Duration(v) },
		name:   func(v float64) string { return time.Duration(v).String() },
		judge:  func(_ *results.Judged, t *results.LimitTrial) (limits.Outcome, string) { return endsWithin(holds, t) },
	}
	s.still = func(j *results.Judged, t *results.LimitTrial) bool {
		return heldUp(j.Verdicts.Standstills.Times, s.clients, t)
	}
	return s
}

// heldUp reports whether standstills may explain all holds that outlived their leases. A standstill
// delays at most one hold per client.
func heldUp(times, clients int64, t *results.LimitTrial) bool {
	return t.Outlived > 0 && t.Outlived <= times*clients
}

// LeaseUnit returns the unit of a design's leases, whether it rounds other leases or refuses them.
func LeaseUnit(d design.Design) time.Duration {
	unit := max(time.Millisecond, d.LeaseUnit)
	if d.Granted != nil {
		unit = max(unit, d.Granted(time.Nanosecond))
	}
	return unit
}

// endsWithin returns the outcome of a trial: whether all holds ended within their leases, and were
// enough. If not, it returns the reason.
func endsWithin(wanted int64, t *results.LimitTrial) (limits.Outcome, string) {
	switch {
	case t.Outlived > 0:
		return limits.Fails, fmt.Sprintf("it was outlived by %d of %d holds", t.Outlived, t.Run.Counts.Grants)
	case t.Run.Counts.Grants < wanted:
		return limits.Unable, fmt.Sprintf("there were %d holds of %d, the others were refused: raise --wait or --keys", t.Run.Counts.Grants, wanted)
	}
	return limits.Holds, ""
}
