package gates

import (
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// findings are the metrics of what the checker found.
func findings() []Metric {
	all := []Metric{
		{Name: "violations", Unit: Count, Sources: Live | Explored, Summary: "times that any guarantee was broken, hazards left out; of explore, by how many schedules", Rises: true, Judged: true, read: allViolations},
		{Name: "worst_overlap", Unit: Duration, Sources: Live, Summary: "longest time that two owners held one key, within the lease or past it", Rises: true, Judged: true,
			read: func(r *Run) Reading {
				return unless(r.Verdicts.Grants == 0, "nothing was granted", float64(r.Verdicts.WorstOverlap))
			}},
	}
	for _, g := range lockbench.Guarantees() {
		if g.Name == lockbench.Fairness {
			continue // measured, not judged
		}
		all = append(all,
			Metric{Name: string(g.Name) + ".violations", Unit: Count, Sources: Live | Explored, Rises: true, Judged: true,
				Summary: "violations and hazards: " + g.HoldsWhen, read: violations(g.Name)},
			Metric{Name: string(g.Name) + ".exposure", Unit: Count, Sources: Live | Explored, Rises: true, Judged: true,
				Summary: "occasions on which it could have been broken: " + g.HoldsWhen, read: exposure(g.Name)})
	}
	return all
}

// allViolations counts as the reports' table does. Where no guarantee was put to the test
// none could have been violated.
func allViolations(r *Run) Reading {
	if r.empty() {
		return nothing(anything)
	}
	total, tested := int64(0), false
	for _, f := range r.Verdicts.Findings {
		tested = tested || f.Verdict.Graver(checker.Untested)
		if f.Verdict == checker.Broken {
			total += f.Violations
		}
	}
	return unless(!tested, "no guarantee was put to the test", float64(total))
}

// violations has no value where nothing could have been violated.
func violations(g lockbench.Guarantee) func(*Run) Reading {
	return judged(g, func(f checker.Finding) Reading {
		if f.Verdict == checker.Untested {
			return nothing(reason(f))
		}
		return count(f.Violations)
	})
}

func exposure(g lockbench.Guarantee) func(*Run) Reading {
	return judged(g, func(f checker.Finding) Reading { return count(f.Exposure) })
}

func judged(g lockbench.Guarantee, of func(checker.Finding) Reading) func(*Run) Reading {
	return func(r *Run) Reading {
		f := r.Verdicts.Find(g)
		switch {
		case r.empty():
			return nothing(anything)
		case f.Verdict == checker.NotApplicable:
			return notForIt(reason(f))
		}
		return of(f)
	}
}

func reason(f checker.Finding) string {
	if f.Note == "" {
		return f.Verdict.String()
	}
	return f.Note
}

// measured are the figures that the checker has beside its verdicts.
func measured() []Metric {
	const overlap, delay = "how long two owners held one key past a lease", "how late an owner was told of its loss"
	return []Metric{
		figure(lockbench.Overrun, "overlap_p50_ns", Duration, overlap+", half of the times at most", false),
		figure(lockbench.Overrun, "overlap_p99_ns", Duration, overlap+", 99% of the times at most", false),
		figure(lockbench.Overrun, "overlap_max_ns", Duration, overlap+", at most", true),
		figure(lockbench.LossReported, "delay_p50_ns", Duration, delay+", half of the times at most", false),
		figure(lockbench.LossReported, "delay_p99_ns", Duration, delay+", 99% of the times at most", false),
		figure(lockbench.LossReported, "delay_max_ns", Duration, delay+", at most", true),
		figure(lockbench.Fairness, "jain", Number, "Jain's index of the clients' grants, 1 when all got as many", false),
		figure(lockbench.Fairness, "max_wait_ns", Duration, "longest time that an acquire waited, whatever came of it", true),
		figure(lockbench.Fairness, "max_bypassed", Count, "most grants to later callers while one waited", true),
	}
}

// figure is a number that findings have under that name, as JSON results do; without
// its unit it is the name of the metric.
func figure(g lockbench.Guarantee, name string, unit Unit, summary string, rises bool) Metric {
	return Metric{
		Name: string(g) + "." + strings.TrimSuffix(name, "_ns"), Unit: unit, Summary: summary, Rises: rises,
		read: func(r *Run) Reading {
			v, told := r.Verdicts.Find(g).Measures[name]
			if !told || r.Verdicts.Grants == 0 {
				return nothing("none was measured")
			}
			return value(v)
		},
	}
}
