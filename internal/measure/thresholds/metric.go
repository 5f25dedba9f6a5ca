package thresholds

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/measure"
)

// A Run is the data of metrics: a judged and measured run of a design, or its state so far; or an
// exploration of the design, which has Schedules and no Measures.
type Run struct {
	Design   string
	Verdicts *checker.Result
	Measures *measure.Measures
	// Schedules is the number of judged schedules of an exploration, zero for a live run.
	Schedules int64
}

// empty reports whether the run has no judged operation and no schedule.
func (r *Run) empty() bool { return r.Verdicts.Ops == 0 && r.Schedules == 0 }

// A Source is a set of kinds of results that have a metric.
type Source uint8

// The sources. A metric may have several.
const (
	Live     Source = 1 << iota // runs in real time
	Explored                    // explorations
)

// A Metric is a figure of a run, by its name in reports.
type Metric struct {
	// Name is the stable name, as "acquire.p99".
	Name string
	Unit Unit
	// Summary describes it in one sentence.
	Summary string
	// Rises reports whether the metric never falls during a run, so that a bound once exceeded
	// stays exceeded.
	Rises bool
	// Sources are the kinds of results that have the metric.
	Sources Source
	// Judged reports whether the metric is a finding of the checker, which proves nothing if the
	// self-check failed.
	Judged bool

	read func(*Run) Reading
}

// A Reading is the value of a metric in a run, or the reason why it has none.
type Reading struct {
	Value float64
	// Why is the reason for a missing value, empty if there is a value.
	Why string
	// Foreign reports whether the metric does not apply to the design of this run.
	Foreign bool
}

func value(v float64) Reading     { return Reading{Value: v} }
func nothing(why string) Reading  { return Reading{Why: why} }
func notForIt(why string) Reading { return Reading{Why: why, Foreign: true} }
func count(n int64) Reading       { return value(float64(n)) }
func positive(v float64) Reading  { return unless(v == 0, "the record does not tell", v) }
func unless(absent bool, why string, v float64) Reading {
	if absent {
		return nothing(why)
	}
	return value(v)
}

// Read returns the value of the metric in a run. It is safe for concurrent use while the run is not
// changed.
func (m Metric) Read(r *Run) Reading { return m.read(r) }

// Metrics returns the metrics that lists show: latencies with the percentiles of reports, and
// guarantees without conditions. [Find] returns others by name, such as
// exclusion@failover.violations.
func Metrics() []Metric {
	live := slices.Concat(latencies(), counts(), business(), arrivals(), measured())
	for i := range live {
		live[i].Sources = Live
	}
	return slices.Concat(live, findings(), explored())
}

// Find returns the metric with this name. The error hints at similar names.
func Find(name string) (Metric, error) {
	all := Metrics()
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	if m, found := percentileOf(name); found {
		m.Sources = Live
		return m, nil
	}
	if m, found, err := cellMetric(name); found {
		return m, err
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return Metric{}, unknown(name, suggest.Near(name, names))
}

// explored returns the metrics of explorations alone.
func explored() []Metric {
	return []Metric{{
		Name: "schedules", Unit: Count, Sources: Explored, Rises: true, Summary: "schedules that explore ran and judged",
		read: func(r *Run) Reading {
			return unless(r.Schedules == 0, "nothing was explored", float64(r.Schedules))
		},
	}}
}

// counts returns the metrics that are neither percentiles nor verdicts.
func counts() []Metric {
	return []Metric{
		{Name: "grants", Unit: Count, Summary: "new holds in the measured part", Rises: true,
			read: func(r *Run) Reading { return count(r.Measures.Measured.Grants) }},
		{Name: "grants_per_s", Unit: Rate, Summary: "grants over the length of the measured part",
			read: func(r *Run) Reading {
				return unless(r.Measures.Span <= 0, "no time was measured", r.Measures.GrantsPerSecond)
			}},
		{Name: "attempts_per_grant", Unit: Number, Summary: "tries of all acquires over the grants, measured part",
			read: func(r *Run) Reading { return positive(r.Measures.AttemptsPerGrant) }},
		{Name: "commands_per_grant", Unit: Number, Summary: "requests to the server over the grants, whole run",
			read: func(r *Run) Reading { return positive(r.Measures.CommandsPerGrant) }},
		{Name: "sent_bytes_per_grant", Unit: Number, Summary: "bytes to the servers over the grants, whole run",
			read: func(r *Run) Reading { return cost(r.Measures.Sent) }},
		{Name: "received_bytes_per_grant", Unit: Number, Summary: "bytes from the servers over the grants, whole run",
			read: func(r *Run) Reading { return cost(r.Measures.Received) }},
		{Name: "connections", Unit: Count, Summary: "largest number of connections to the servers open at once, whole run",
			read: func(r *Run) Reading { return positive(float64(r.Measures.Connections)) }},
		{Name: "server_cpu_per_grant", Unit: Duration, Summary: "processor time of the servers over the grants, measured part",
			read: func(r *Run) Reading { return cost(r.Measures.ServerCPU) }},
		{Name: "ops", Unit: Count, Summary: "operations of the whole run", Rises: true,
			read: func(r *Run) Reading { return count(r.Verdicts.Ops) }},
		outcome("refused", "acquires that were refused, whole run", func(v *checker.Result) int64 { return v.Refused }),
		share("refused", "refused acquires over those granted or refused, whole run",
			func(v *checker.Result) (int64, int64) { return v.Refused, v.Refused + v.Grants }),
		outcome("failed", "operations that failed, whole run", func(v *checker.Result) int64 { return v.Failed }),
		share("failed", "failed operations over all, whole run",
			func(v *checker.Result) (int64, int64) { return v.Failed, v.Ops }),
		outcome("unknown", "operations that nobody answered, whole run", func(v *checker.Result) int64 { return v.Unknown }),
		share("unknown", "unanswered operations over all, whole run",
			func(v *checker.Result) (int64, int64) { return v.Unknown, v.Ops }),
		outcome("lost", "operations answered that the lock was lost, whole run", func(v *checker.Result) int64 { return v.Lost }),
		outcome("unjudged", "grants without a known start of validity, whole run", func(v *checker.Result) int64 { return v.Unjudged }),
		guarded("stale", "reads and writes that a guarded store refused, whole run", func(m *measure.Measures) int64 { return m.Stale }),
		guarded("lost_updates", "writes that replaced another's that their writer had not seen, whole run",
			func(m *measure.Measures) int64 { return m.LostUpdates }),
	}
}

// cost returns a cost per grant, which may be unknown.
func cost(c measure.Cost) Reading {
	return unless(!c.Known, "nobody knows it", c.PerGrant)
}

// anything is the reason for missing values in a run without operations.
const anything = "nothing was recorded"

func outcome(name, summary string, of func(*checker.Result) int64) Metric {
	return Metric{Name: name + ".count", Unit: Count, Summary: summary, Rises: true, read: func(r *Run) Reading {
		return unless(r.Verdicts.Ops == 0, anything, float64(of(r.Verdicts)))
	}}
}

func share(name, summary string, of func(*checker.Result) (part, whole int64)) Metric {
	return Metric{Name: name + ".share", Unit: Share, Summary: summary, read: func(r *Run) Reading {
		part, whole := of(r.Verdicts)
		if whole == 0 {
			return nothing(anything)
		}
		return value(float64(part) / float64(whole))
	}}
}

// guarded returns the metric of a count on guarded records; it has no value without any.
func guarded(name, summary string, of func(*measure.Measures) int64) Metric {
	return Metric{Name: name, Unit: Count, Summary: summary, Rises: true, read: func(r *Run) Reading {
		switch f := r.Verdicts.Find(lockbench.Effects.At(0)); {
		case r.empty():
			return nothing(anything)
		case f.Verdict == checker.NotApplicable:
			return nothing(f.Note)
		}
		return count(of(r.Measures))
	}}
}
