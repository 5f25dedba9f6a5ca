package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// An OverTime has the events of the whole run by time, warm-up included. Its lists have
// one entry per bucket of time, the first of which begins at stamp zero; entries beyond the
// end of a list are zero.
type OverTime struct {
	BucketNS int64 `json:"bucket_ns"`
	// WarmupNS and EndNS are when the warm-up and the run ended.
	WarmupNS int64 `json:"warmup_ns"`
	EndNS    int64 `json:"end_ns"`
	// Grants are new holds, Refused refused acquires, Troubled operations on the lock that
	// failed, were answered lost, or are unknown.
	Grants   []int64 `json:"grants"`
	Refused  []int64 `json:"refused,omitempty"`
	Troubled []int64 `json:"troubled,omitempty"`
	// SlowestNS is the longest acquire granted in each bucket.
	SlowestNS []int64 `json:"slowest_acquire_ns"`
	// Violations, claimed or not, are counted where they came to be certain.
	Violations map[lockbench.Cell][]int64 `json:"violations,omitempty"`
	Faults     []FaultLine                `json:"faults,omitempty"`
}

// A FaultLine is when faults of one kind occurred. Of faults that last it has the periods,
// at most 64: the nearest are put together where there were more.
type FaultLine struct {
	Note        string   `json:"note"`
	Occurrences []int64  `json:"occurrences"`
	Periods     []Period `json:"periods,omitempty"`
}

// A Period is a part of a run.
type Period struct {
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
}

// overTime puts what was measured and what was judged over one axis; nil when nothing
// happened.
func overTime(all *measure.Measures, warmup int64, findings []checker.CellFinding) *OverTime {
	m := &all.Timeline
	width := max(m.Grants.Width, m.Refused.Width, m.Troubled.Width, m.Slowest.Width)
	for _, f := range findings {
		width = max(width, f.When.Width)
	}
	for _, f := range m.Faults {
		width = max(width, f.Occurrences.Width)
	}
	if width == 0 {
		return nil
	}
	t := &OverTime{
		BucketNS: width, WarmupNS: warmup, EndNS: warmup + int64(all.Span), Grants: widened(m.Grants, width), Refused: widened(m.Refused, width),
		Troubled: widened(m.Troubled, width), SlowestNS: nonNil(m.Slowest.Widened(width).N),
		Violations: make(map[lockbench.Cell][]int64),
	}
	for _, f := range findings {
		if len(f.When.N) > 0 {
			t.Violations[f.Cell] = widened(f.When, width)
		}
	}
	for _, f := range m.Faults {
		t.Faults = append(t.Faults, newFaultLine(f, width))
	}
	return t
}

func newFaultLine(f measure.FaultLine, width int64) FaultLine {
	out := FaultLine{Note: f.Note, Occurrences: widened(f.Occurrences, width)}
	for _, p := range f.Periods {
		out.Periods = append(out.Periods, Period{FromNS: p.From, ToNS: p.To})
	}
	return out
}

func widened(c series.Counts, width int64) []int64 { return nonNil(c.Widened(width).N) }

// nonNil returns n, which JSON writes as an empty list and not as null.
func nonNil(n []int64) []int64 {
	if n == nil {
		return []int64{}
	}
	return n
}
