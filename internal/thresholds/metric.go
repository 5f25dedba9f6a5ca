package thresholds

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/suggest"
)

// A Run is what metrics are read from: one judged and measured run of a design, or as
// much of it as there is yet; or its exploration, which has Schedules and no Measures.
type Run struct {
	Design   string
	Verdicts *checker.Result
	Measures *measure.Measures
	// Schedules is how many were run and judged of an exploration, zero for a live run.
	Schedules int64
}

// empty reports whether nothing was judged.
func (r *Run) empty() bool { return r.Verdicts.Ops == 0 && r.Schedules == 0 }

// A Source is what a metric can be read of.
type Source uint8

// The sources, which a metric may have several of.
const (
	Live     Source = 1 << iota // runs in real time
	Explored                    // explorations
)

// A Metric is a figure of a run, by the name that it has in reports.
type Metric struct {
	// Name is stable; "acquire.p99".
	Name string
	Unit Unit
	// Summary says in one sentence what it is.
	Summary string
	// Rises: as a run goes on it never falls, so that what it exceeds it exceeds for good.
	Rises bool
	// Sources are what it can be read of.
	Sources Source
	// Judged: it is a finding of the checker, worth nothing where a lock that is broken
	// on purpose was not caught.
	Judged bool

	read func(*Run) Reading
}

// A Reading is the value of a metric in a run, or why it has none.
type Reading struct {
	Value float64
	// Why there is no value; empty when there is one.
	Why string
	// Foreign: the metric is not for the design of this run, whatever is done to it.
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

// Read returns the metric of a run. It is safe for concurrent use while nobody changes
// the run.
func (m Metric) Read(r *Run) Reading { return m.read(r) }

// Metrics lists every metric: those of latencies with the percentiles that reports show,
// those of guarantees where nothing went wrong. Others are found by name all the same,
// exclusion@failover.violations.
func Metrics() []Metric {
	live := slices.Concat(latencies(), counts(), business(), arrivals(), measured())
	for i := range live {
		live[i].Sources = Live
	}
	return slices.Concat(live, findings(), explored())
}

// Find returns the metric of that name. The error hints at names that resemble it.
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

// explored are the metrics of explorations alone.
func explored() []Metric {
	return []Metric{{
		Name: "schedules", Unit: Count, Sources: Explored, Rises: true, Summary: "schedules that explore ran and judged",
		read: func(r *Run) Reading {
			return unless(r.Schedules == 0, "nothing was explored", float64(r.Schedules))
		},
	}}
}

// counts are the metrics that need no percentile and no verdict.
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

// cost is a cost of a grant, which may not be known.
func cost(c measure.Cost) Reading {
	return unless(!c.Known, "nobody knows it", c.PerGrant)
}

// anything says why nothing is to be had from a run in which nothing was done.
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

// guarded is a count of what became of guarded records, where there are any.
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
