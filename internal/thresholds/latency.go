package thresholds

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/internal/measure"
)

// shown are the percentiles in reports.
var shown = []string{"50", "90", "99", "99.9", "99.99"}

// summaries define the durations of each operation, as package measure does.
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

// latencies are the listed metrics of durations.
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

// percentileName is the form of a percentile: op.p99.9.
var percentileName = regexp.MustCompile(`^([a-z_]+)\.p([0-9]{1,3}(?:\.[0-9]{1,6})?)$`)

// percentileOf returns the percentile with that name, any above 0 and up to 100.
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

// latency reads a figure of the durations of the measured part. It has no value if some
// durations were out of the histogram's range.
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

// durations returns the durations of op. Acquires without an intended start have only a
// service time.
func durations(p *measure.Phase, op measure.Op) *measure.Latency {
	if op == measure.Service && p.Latency(measure.Lag).Count() == 0 {
		op = measure.Acquire
	}
	return p.Latency(op)
}
