package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/relay"
	"github.com/lockbench/lockbench/measure"
	"github.com/lockbench/lockbench/reports"
)

// judge reads the history in path once, and judges and measures it on the way.
// The error is that of opening it; damage further on is told in the result,
// which then covers what comes before. Claims, when not nil, replace the
// history's.
func judge(path string, claims []lockbench.Guarantee, onlookers ...onlooking) (reports.Judged, error) {
	src, err := history.Open(path)
	if err != nil {
		return reports.Judged{}, err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	return judgeSource(watched(src, onlookers), path, claims, nil), nil
}

// judgeSource is judge for a history that is open already. Look, when not nil, is called
// after each event, with what judges it: then all is done by this goroutine, to leave
// the others to whom the history is about; else several share it, and come to the same.
func judgeSource(src history.Source, path string, claims []lockbench.Guarantee, look func(*checker.Checker, history.Event)) reports.Judged {
	h := src.Header()
	if claims != nil {
		h.Claims = claims
	}
	if h.Design == "" {
		h.Design = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	j := reports.Judged{Header: h, History: path}
	figures := measure.New(h)
	var verdicts interface {
		Finish(history.End) checker.Result
	}
	var damage error
	if look != nil {
		one := checker.New(h)
		verdicts, damage = one, each(src, func(ev history.Event) {
			one.Add(ev)
			figures.Add(ev)
			look(one, ev)
		})
	} else {
		verdicts, damage = judgeTogether(src, h, figures)
	}
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // a partial history says itself where and why it stops
	}
	j.Verdicts, j.Measures = verdicts.Finish(j.End), figures.Result(j.End)
	return j
}

// judgeTogether reads src here, and judges and measures it in other goroutines.
func judgeTogether(src history.Source, h history.Header, figures *measure.Collector) (*checker.Parallel, error) {
	verdicts := checker.NewParallel(h, runtime.GOMAXPROCS(0))
	measuring := relay.New(func(events []history.Event) {
		for _, ev := range events {
			figures.Add(ev)
		}
	})
	damage := each(src, func(ev history.Event) {
		verdicts.Add(ev)
		measuring.Add(ev)
	})
	measuring.Wait()
	return verdicts, damage
}

// each hands every event of src to do, up to the damage that it returns.
func each(src history.Source, do func(history.Event)) error {
	for ev, err := range src.Events() {
		if err != nil {
			return err
		}
		do(ev)
	}
	return nil
}

// collectSeldom has garbage collected less often: a judgement makes much of it and keeps
// little, so the time is worth more than the memory. Who sets GOGC decides otherwise.
func collectSeldom() (asBefore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(300)
	return func() { debug.SetGCPercent(before) }
}
