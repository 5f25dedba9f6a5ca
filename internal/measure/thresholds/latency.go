package thresholds

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/internal/measure"
)

// shown are the percentiles that reports show.
var shown = []string{"50", "90", "99", "99.9", "99.99"}

// summaries has the definition of each operation's duration, as package measure has it.
var summaries = map[measure.Op]string{
	measure.Acquire:    "intended start, in closed loop the call, to return of acquires that were granted a new hold",
	measure.Service:    "call to return of acquires that were granted a new hold",
	measure.Lag:        "intended start to call of acquires that were due at a time",
	measure.Refused:    "intended start, in closed loop the call, to return of acquires that were refused",
	measure.Release:    "call to return of releases, whatever the answer",
	measure.Extend:     "call to return of extends, whatever the answer",
	measure.Handoff:    "release-call to the next grant, somebody waiting",
	measure.Hold:       "grant to the call of its final release",
	measure.LossNotice: "the next owner's grant to when the owner before is told that it lost the lock",
	measure.LeftTaken:  "return of an acquire without an answer, on a free key, to the latest that others met the key taken",
}

// latencies returns the metrics of durations that lists show.
func latencies() []Metric {
	var all []Metric
	for _, op := range measure.Ops() {
		for _, p := range shown {
			m, _ := percentileOf(op.String() + ".p" + p)
			all = append(all, m)
		}
		all = append(all, mean(op), longest(op))
	}
	return all
}

// percentileName matches the name of a percentile, such as acquire.p99.9.
var percentileName = regexp.MustCompile(`^([a-z_]+)\.p([0-9]{1,3}(?:\.[0-9]{1,6})?)$`)

// percentileOf returns the metric of the percentile with this name, above 0 and at most 100; false
// if name is not one.
func percentileOf(name string) (Metric, bool) {
	parts := percentileName.FindStringSubmatch(name)
	if parts == nil {
		return Metric{}, false
	}
	i := slices.IndexFunc(measure.Ops(), func(op measure.Op) bool { return op.String() == parts[1] })
	p, err := strconv.ParseFloat(parts[2], 64)
	if i < 0 || err != nil || p <= 0 || p > 100 {
		return Metric{}, false
	}
	op := measure.Ops()[i]
	return Metric{
		Name: name, Unit: Duration,
		Summary: fmt.Sprintf("%s: %s%% took no longer (any pN will do)", summaries[op], parts[2]),
		read:    latency(op, func(l *measure.Latency) float64 { return float64(l.At(p)) }),
	}, true
}

func mean(op measure.Op) Metric {
	return Metric{Name: op.String() + ".mean", Unit: Duration, Summary: summaries[op] + ": on average",
		read: latency(op, func(l *measure.Latency) float64 { return l.Histogram().Mean() })}
}

func longest(op measure.Op) Metric {
	return Metric{Name: op.String() + ".max", Unit: Duration, Summary: summaries[op] + ": the longest", Rises: true,
		read: latency(op, func(l *measure.Latency) float64 { return float64(l.Max()) })}
}

// latency returns a function that reads a figure of the durations of op in the measured part. It
// has no value if some durations were out of range of the histogram.
func latency(op measure.Op, of func(*measure.Latency) float64) func(*Run) Reading {
	return func(r *Run) Reading {
		l := durations(&r.Measures.Measured, op)
		switch {
		case l.OutOfRange > 0:
			return nothing(fmt.Sprintf("%d durations were out of the range that is measured", l.OutOfRange))
		case l.Count() == 0:
			return nothing("none was measured")
		}
		return value(of(l))
	}
}

// durations returns the durations of op. Acquires of a closed loop have no intended start, and so
// only a service time.
func durations(p *measure.Phase, op measure.Op) *measure.Latency {
	if op == measure.Service && p.Latency(measure.Lag).Count() == 0 {
		op = measure.Acquire
	}
	return p.Latency(op)
}
