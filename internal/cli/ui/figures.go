package ui

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/series"
	"github.com/lockbench/lockbench/runner"
)

// judgedSoFar is a small copy of the state of a run's judgement.
type judgedSoFar struct {
	acquire    Latency
	faults     []Occurrences
	violations map[string]int64 // by broken cell
	against    map[string]bool  // the cells with violated claims
}

// copying is the shortest time between two copies.
const copying = 200 * time.Millisecond

// copies returns a function that takes the state of a run's judgement, and shows copies of
// it now and then.
func (v *Live) copies() func(runner.Snapshot) {
	var last time.Time
	return func(so runner.Snapshot) {
		if now := time.Now(); now.Sub(last) >= copying {
			last = now
			v.judged(soFar(so.Verdicts(), so.Measures()))
		}
	}
}

func soFar(verdicts checker.Result, m *measure.Measures) judgedSoFar {
	so := judgedSoFar{acquire: latencyShown(m.Measured.Latency(measure.Acquire)), violations: make(map[string]int64), against: make(map[string]bool)}
	for _, f := range m.Timeline.Faults {
		so.faults = append(so.faults, Occurrences{Fault: f.Note, Count: total(f.Occurrences)})
	}
	for _, f := range verdicts.Findings {
		if f.Verdict == checker.Broken {
			so.violations[f.Cell.String()], so.against[f.Cell.String()] = f.Violations, f.Against > 0
		}
	}
	return so
}

func latencyShown(l *measure.Latency) Latency {
	return Latency{
		Count: l.Count(), P50: int64(l.At(50)), P90: int64(l.At(90)), P99: int64(l.At(99)),
		P999: int64(l.At(99.9)), Max: int64(l.Max()),
	}
}

func total(c series.Counts) (n int64) {
	for _, v := range c.N {
		n += v
	}
	return n
}

// rateCounter makes a curve of a counter that is sampled.
type rateCounter struct {
	curve series.Counts
	seen  int64
	at    time.Duration
}

// see takes the value of the counter at a time. An increase is spread over the time since
// the last change, so that the times of samples do not matter.
func (r *rateCounter) see(n int64, at time.Duration) {
	if n == r.seen || at <= r.at {
		return
	}
	parts := min(int64(at-r.at)/series.Narrowest+1, series.Buckets)
	came, took := n-r.seen, int64(at-r.at)
	for i := range parts {
		r.curve.Add(int64(r.at)+took*i/parts, came*(i+1)/parts-came*i/parts)
	}
	r.seen, r.at = n, at
}

// counts is a copy of the curve.
func (r *rateCounter) counts() series.Counts { return r.curve.Widened(r.curve.Width) }
