package results

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/history"
)

// Merge combines results, in their order, as if one invocation had made them all. It returns an
// error if some are explorations and some are not, or if one is damaged.
func Merge(results ...Result) (Result, error) {
	all := Result{Runs: []Run{}, Exit: Inconclusive}
	if len(results) > 0 {
		all.Server, all.Environment, all.Exit = results[0].Server, results[0].Environment, results[0].Exit
	}
	for i := range results {
		r := &results[i]
		if err := r.validate(); err != nil {
			return Result{}, err
		}
		if len(all.Runs) > 0 && len(r.Runs) > 0 && r.Explored() != all.Explored() {
			return Result{}, errors.New("some are explorations and some are not; hint: one report for each kind")
		}
		all.take(r)
	}
	return all, nil
}

// validate returns an error if r, which may be from any file, contradicts itself so that it cannot
// be shown.
func (r *Result) validate() error {
	explored := r.Explored()
	for i := range r.Runs {
		if (r.Runs[i].Exploration != nil) != explored {
			return fmt.Errorf("it is damaged: run %d of %d is of another kind than the first; hint: write it again", i+1, len(r.Runs))
		}
	}
	for _, th := range r.Thresholds {
		for _, reading := range th.Readings {
			if reading.Run < 0 || reading.Run >= len(r.Runs) || reading.Value == nil && reading.Why == "" {
				return fmt.Errorf("it is damaged: threshold %q has a reading of no run or without a value; hint: write it again", th.Threshold)
			}
		}
	}
	return nil
}

// take adds the runs, thresholds and self-check of another result.
func (r *Result) take(o *Result) {
	before := len(r.Runs)
	for i := range o.Runs {
		run := o.Runs[i]
		r.append(run, &history.Header{Server: o.ServerOf(&run), Environment: o.environment(&run)})
	}
	for _, th := range o.Thresholds {
		th.Readings = append([]Reading{}, th.Readings...)
		for i := range th.Readings {
			th.Readings[i].Run += before
		}
		r.Thresholds = append(r.Thresholds, th)
	}
	r.NotRun = append(r.NotRun, o.NotRun...)
	if o.SelfCheck != nil && (r.SelfCheck == nil || r.SelfCheck.Caught) {
		r.SelfCheck = o.SelfCheck
	}
	r.Exit = worst(r.Exit, o.Exit)
}
