package main

import (
	"errors"
	"os"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/reports"
)

// intervalLogs are the files of --out hlog, written while runs are judged.
type intervalLogs struct {
	files []*os.File
	logs  []*reports.IntervalLog
}

// openIntervalLogs makes the files; none for none.
func openIntervalLogs(paths []string) (*intervalLogs, error) {
	l := &intervalLogs{}
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.files = append(l.files, f)
		l.logs = append(l.logs, reports.NewIntervalLog(f))
	}
	return l, nil
}

// onlooking has a run logged under a label, which is empty where there is one run only.
func (l *intervalLogs) onlooking(label string) []onlooking {
	var all []onlooking
	for _, log := range l.logs {
		all = append(all, func(h history.Header) onlooker { return log.Run(h, label) })
	}
	return all
}

// of has each of the subjects logged, under its label where there are several.
func (l *intervalLogs) of(subjects []subject) func(subject) []onlooking {
	return func(of subject) []onlooking {
		if len(subjects) == 1 {
			return l.onlooking("")
		}
		return l.onlooking(strings.ReplaceAll(of.label(), " ", ""))
	}
}

// close completes the files. It returns the first error of writing them.
func (l *intervalLogs) close() error {
	var errs []error
	for i, log := range l.logs {
		errs = append(errs, log.Close(), l.files[i].Close())
	}
	return errors.Join(errs...)
}
