package thresholds

import "github.com/lockbench/lockbench/internal/measure"

// arrivals returns the metrics of the load of open loops. In a closed loop they have no value. They
// are known only after a run, so none of them can end a run.
func arrivals() []Metric {
	return []Metric{
		ofArrivals("due.count", Count, "arrivals that fell due, open loop, measured part",
			func(a *measure.Arrivals) Reading { return count(a.Due) }),
		ofArrivals("started.count", Count, "arrivals that were begun, open loop, measured part",
			func(a *measure.Arrivals) Reading { return count(a.Started) }),
		ofArrivals("waiting.count", Count, "arrivals that were due, in the warm-up or after it, and not begun when the run ended, open loop",
			func(a *measure.Arrivals) Reading { return count(a.Waiting) }),
		ofArrivals("overslept.share", Share, "arrivals that idle clients began late over those begun, open loop: the machine's doing",
			func(a *measure.Arrivals) Reading {
				return unless(a.Started == 0, "nothing was begun", float64(a.Overslept)/float64(a.Started))
			}),
		ofArrivals("offered_per_s", Rate, "arrivals that fell due over the length of the measured part, open loop",
			func(a *measure.Arrivals) Reading { return value(a.OfferedPerSecond) }),
		ofArrivals("started_per_s", Rate, "arrivals that were begun over the length of the measured part, open loop",
			func(a *measure.Arrivals) Reading { return value(a.StartedPerSecond) }),
		ofArrivals("answered_per_s", Rate, "acquires that were answered, whatever the answer, over the length of the measured part, open loop",
			func(a *measure.Arrivals) Reading { return value(a.AnsweredPerSecond) }),
	}
}

func ofArrivals(name string, unit Unit, summary string, of func(*measure.Arrivals) Reading) Metric {
	return Metric{Name: name, Unit: unit, Summary: summary, read: func(r *Run) Reading {
		if a := r.Measures.Arrivals; a != nil {
			return of(a)
		}
		return nothing("nothing is due in a closed loop; --rate makes an open one")
	}}
}
