package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// An OverTime counts the events of a whole run, warm-up included, in buckets of time. Each list has
// one entry per bucket; the first bucket begins at stamp zero. Entries beyond the end of a list are
// zero.
type OverTime struct {
	// BucketNS is the width of a bucket, in ns.
	BucketNS int64 `json:"bucket_ns"`
	// WarmupNS and EndNS are the times, in ns, at which the warm-up and the run ended.
	WarmupNS int64 `json:"warmup_ns"`
	EndNS    int64 `json:"end_ns"`
	// Grants counts new holds, and Refused refused acquires. Troubled counts operations on the lock
	// that failed, were answered that the lock was lost, or have an unknown outcome.
	Grants   []int64 `json:"grants"`
	Refused  []int64 `json:"refused,omitempty"`
	Troubled []int64 `json:"troubled,omitempty"`
	// SlowestNS is the duration of the longest granted acquire in each bucket, in ns.
	SlowestNS []int64 `json:"slowest_acquire_ns"`
	// Violations counts violations of each cell, claimed or not, in the bucket in which they became
	// certain.
	Violations map[lockbench.Cell][]int64 `json:"violations,omitempty"`
	Faults     []FaultLine                `json:"faults,omitempty"`
}

// A FaultLine counts the occurrences of one kind of fault, described by Note, in the buckets of its
// [OverTime]. If such a fault lasts, it also has the periods, at most 64; if there were more, the
// nearest are merged.
type FaultLine struct {
	Note        string   `json:"note"`
	Occurrences []int64  `json:"occurrences"`
	Periods     []Period `json:"periods,omitempty"`
}

// A Period is a part of a run, in ns since stamp zero.
type Period struct {
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
}

// overTime returns the events that were measured and the violations, in buckets of the same width;
// nil if there are none.
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

// nonNil returns n, or an empty slice if n is nil, which JSON would write as null.
func nonNil(n []int64) []int64 {
	if n == nil {
		return []int64{}
	}
	return n
}
