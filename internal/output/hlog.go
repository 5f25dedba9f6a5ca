package output

import (
	"errors"
	"os"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/runner"
)

// IntervalLogs are the files of --out hlog, written while runs are judged.
type IntervalLogs struct {
	files []*os.File
	logs  []*measure.IntervalLog
}

// OpenIntervalLogs makes the files; none for none.
func OpenIntervalLogs(paths []string) (*IntervalLogs, error) {
	l := &IntervalLogs{}
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.files = append(l.files, f)
		l.logs = append(l.logs, measure.NewIntervalLog(f))
	}
	return l, nil
}

// Sink returns what logs a run under a label, which is empty where there is one run only.
func (l *IntervalLogs) Sink(label string) runner.Sink { return l.sinkOf(&label) }

// OfPlan returns what logs each subject of a plan, under its label where there are several.
func (l *IntervalLogs) OfPlan(p *runner.Plan) runner.Sink {
	label := ""
	s := l.sinkOf(&label)
	if len(p.Subjects) > 1 {
		s.Begin = func(of runner.Subject, _ func() runner.Progress) { label = strings.ReplaceAll(of.Label(), " ", "") }
	}
	return s
}

// sinkOf returns what logs each run under what the label is when it begins.
func (l *IntervalLogs) sinkOf(label *string) runner.Sink {
	if len(l.logs) == 0 {
		return runner.Sink{}
	}
	var runs []*measure.Intervals
	return runner.Sink{
		Opened: func(h history.Header) {
			runs = nil
			for _, log := range l.logs {
				runs = append(runs, log.Run(h, *label))
			}
		},
		Event: func(ev history.Event) {
			for _, r := range runs {
				r.Add(ev)
			}
		},
		Closed: func(end history.End) {
			for _, r := range runs {
				r.Finish(end)
			}
		},
	}
}

// Close completes the files. It returns the first error of writing them.
func (l *IntervalLogs) Close() error {
	var errs []error
	for i, log := range l.logs {
		errs = append(errs, log.Close(), l.files[i].Close())
	}
	return errors.Join(errs...)
}
