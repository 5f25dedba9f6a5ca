package main

import (
	"errors"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/runner"
)

// intervalLogs are the files of --out hlog, written while runs are judged. A file is replaced when
// all runs have ended, if one has begun.
type intervalLogs struct {
	paths []string
	files []*wholefile.File
	logs  []*measure.IntervalLog
	err   error // of creating the files
}

// newIntervalLogs returns the logs of these files; without files it returns none.
func newIntervalLogs(paths []string) *intervalLogs { return &intervalLogs{paths: paths} }

// open makes the files, once.
func (l *intervalLogs) open() {
	for _, path := range l.paths {
		f, err := wholefile.Create(path)
		if err != nil {
			l.err = errors.Join(l.err, err)
			continue
		}
		l.files = append(l.files, f)
		l.logs = append(l.logs, measure.NewIntervalLog(f))
	}
	l.paths = nil
}

// sink returns a sink that logs a run under a label, empty if there is only one run.
func (l *intervalLogs) sink(label string) runner.Sink { return l.labelled(&label) }

// sinkOfPlan returns a sink that logs each subject of a plan, under its label if there are several.
func (l *intervalLogs) sinkOfPlan(p *runner.Plan) runner.Sink {
	label := ""
	s := l.labelled(&label)
	if len(p.Subjects) > 1 {
		s.Begin = func(of runner.Subject, _ func() runner.Progress) { label = tag.Replace(of.Label()) }
	}
	return s
}

// tag writes a label as a tag of a log: design+guard-clients-8-keys-4.
var tag = strings.NewReplacer(" +", "+", " ", "-")

// labelled returns a sink that logs each run under the label's value when the run begins.
func (l *intervalLogs) labelled(label *string) runner.Sink {
	if len(l.paths)+len(l.files) == 0 {
		return runner.Sink{}
	}
	var runs []*measure.Intervals
	return runner.Sink{
		Opened: func(h history.Header) {
			l.open()
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

// close completes the files. It returns the first error of each.
func (l *intervalLogs) close() error {
	errs := []error{l.err}
	for i, log := range l.logs {
		l.files[i].Fail(log.Close())
		errs = append(errs, l.files[i].Close())
	}
	return errors.Join(errs...)
}
