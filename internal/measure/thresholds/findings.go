package thresholds

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// findings returns the metrics of the checker's findings: totals, and a set for each guarantee
// without conditions. Metrics under conditions are found by name, see [Find].
func findings() []Metric {
	all := []Metric{
		total("violations", "violations of all guarantees under all conditions, claimed or not; of explore, schedules",
			func(v *checker.Result) (n int64) {
				for _, f := range v.Findings {
					n += f.Violations
				}
				return n
			}),
		total("against", "those that count against the claims of the design: any fails the run",
			func(v *checker.Result) (n int64) {
				for _, f := range v.Findings {
					n += f.Against
				}
				return n
			}),
		total("breaches", "what broke guarantees, each once, however many guarantees it shows on",
			func(v *checker.Result) int64 { return v.Breaches }),
		{Name: "worst_overlap", Unit: Duration, Sources: Live, Summary: "longest time that two owners held one key, within the lease or past it", Rises: true, Judged: true,
			read: func(r *Run) Reading {
				return unless(r.Verdicts.Grants == 0, "nothing was granted", float64(r.Verdicts.WorstOverlap))
			}},
	}
	for _, g := range lockbench.Guarantees() {
		for _, c := range cellCounts {
			all = append(all, c.metric(g.Name.At(0)))
		}
	}
	return all
}

// total returns the metric of a count over all findings. It has no value if no guarantee was
// tested.
func total(name, summary string, of func(*checker.Result) int64) Metric {
	return Metric{Name: name, Unit: Count, Sources: Live | Explored, Summary: summary, Rises: true, Judged: true, read: func(r *Run) Reading {
		if r.empty() {
			return nothing(anything)
		}
		tested := false
		for _, f := range r.Verdicts.Findings {
			tested = tested || f.Verdict.Graver(checker.Untested)
		}
		return unless(!tested, "no guarantee was put to the test", float64(of(r.Verdicts)))
	}}
}

// A cellCount describes a count in the finding on a cell.
type cellCount struct {
	name, summary string
	of            func(checker.Finding) Reading
}

// tested returns a function that reads a count; it has no value if the cell was not tested.
func tested(of func(checker.Finding) int64) func(checker.Finding) Reading {
	return func(f checker.Finding) Reading {
		if f.Verdict == checker.Untested {
			return nothing(reason(f))
		}
		return count(of(f))
	}
}

var cellCounts = []cellCount{
	{"violations", "violations, claimed or not, %s: %s", tested(func(f checker.Finding) int64 { return f.Violations })},
	{"against", "violations that count against the claims, %s: %s", tested(func(f checker.Finding) int64 { return f.Against })},
	{"exposure", "occasions on which it could have been broken, %s: %s", func(f checker.Finding) Reading { return count(f.Exposure) }},
}

// metric returns the metric of the count for a cell.
func (c cellCount) metric(cell lockbench.Cell) Metric {
	when := "where nothing went wrong"
	if cell.Under != 0 {
		when = "touched by " + cell.Under.String() + ", whatever else touched them"
	}
	return Metric{
		Name: cell.String() + "." + c.name, Unit: Count, Sources: Live | Explored, Rises: true, Judged: true,
		Summary: fmt.Sprintf(c.summary, when, cell.Guarantee.Info().Promise), read: judged(cell, c.of),
	}
}

// judged returns a function that applies of to a run's finding on cell. If the cell has conditions,
// the finding counts every occasion that they touched, whatever other conditions did, too; otherwise
// it counts the occasions that no condition touched.
func judged(cell lockbench.Cell, of func(checker.Finding) Reading) func(*Run) Reading {
	return func(r *Run) Reading {
		all := r.Verdicts.Cells()
		f, plain := all[cell], all[cell.Guarantee.At(0)]
		if cell.Under != 0 {
			f = all.Sum(cell)
		}
		switch {
		case r.empty():
			return nothing(anything)
		case f.Verdict == checker.NotApplicable:
			return notForIt(reason(f))
		case f.Verdict == checker.Untested && plain.Verdict == checker.NotApplicable:
			return notForIt(reason(plain))
		}
		reading := of(f)
		if met := r.met(cell.Guarantee); cell.Under == 0 && reading.Why != "" && met != 0 {
			reading.Why += fmt.Sprintf("; hint: it was met under %s: %s.violations", met, cell.Guarantee.At(met))
		}
		return reading
	}
}

// met returns the first conditions under which there was an occasion to break g.
func (r *Run) met(g lockbench.Guarantee) lockbench.Conditions {
	for _, f := range r.Verdicts.Findings {
		if f.Cell.Guarantee == g && f.Exposure > 0 {
			return f.Cell.Under
		}
	}
	return 0
}

func reason(f checker.Finding) string {
	if f.Note == "" {
		return f.Verdict.String()
	}
	return f.Note
}

// cellMetric returns the metric of a cell under conditions. known is false if name does not have
// the form of such a metric. If it has, err names the part of it that is unknown.
func cellMetric(name string) (m Metric, known bool, err error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return Metric{}, false, nil
	}
	for _, c := range cellCounts {
		if name[dot+1:] == c.name {
			cell, err := lockbench.ParseCell(name[:dot])
			if err != nil {
				return Metric{}, true, fmt.Errorf("metric: %w", err)
			}
			return c.metric(cell), true, nil
		}
	}
	return Metric{}, false, nil
}

// measured returns the metrics of what the checker measures, apart from verdicts.
func measured() []Metric {
	const overlap, delay = "how long two owners held one key past a lease", "how late an owner was told of its loss"
	overran, told := lockbench.Exclusion.At(lockbench.Outlived), lockbench.LossReported.At(lockbench.Outlived)
	return []Metric{
		figure(overran, "overlap_p50_ns", overlap+", half of the times at most", false),
		figure(overran, "overlap_p99_ns", overlap+", 99% of the times at most", false),
		figure(overran, "overlap_max_ns", overlap+", at most", true),
		figure(told, "delay_p50_ns", delay+", half of the times at most", false),
		figure(told, "delay_p99_ns", delay+", 99% of the times at most", false),
		figure(told, "delay_max_ns", delay+", at most", true),
		fairness("jain", Number, "Jain's index of the clients' grants, 1 when all got as many", false,
			func(f *checker.Fairness) float64 { return f.Jain }),
		fairness("max_wait", Duration, "longest time that an acquire waited, whatever came of it", true,
			func(f *checker.Fairness) float64 { return float64(f.MaxWait) }),
		fairness("max_bypassed", Count, "most grants to later callers while one waited", true,
			func(f *checker.Fairness) float64 { return float64(f.MaxBypassed) }),
	}
}

// figure returns the metric of a duration in the finding on a cell. name is its name in JSON
// results; without its unit, that is the name of the metric.
func figure(cell lockbench.Cell, name, summary string, rises bool) Metric {
	return Metric{
		Name: cell.String() + "." + strings.TrimSuffix(name, "_ns"), Unit: Duration, Summary: summary, Rises: rises,
		read: func(r *Run) Reading {
			v, told := r.Verdicts.Find(cell).Measures[name]
			if !told || r.Verdicts.Grants == 0 {
				return nothing("none was measured")
			}
			return value(v)
		},
	}
}

func fairness(name string, unit Unit, summary string, rises bool, of func(*checker.Fairness) float64) Metric {
	return Metric{Name: "fairness." + name, Unit: unit, Summary: summary, Rises: rises, read: func(r *Run) Reading {
		return unless(r.Verdicts.Grants == 0, "none was measured", of(&r.Verdicts.Fairness))
	}}
}
