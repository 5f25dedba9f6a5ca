package main

import (
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/relay"
	"github.com/lockbench/lockbench/reports"
)

// judge reads the history in path once, and judges and measures it on the way.
// The error is that of opening it; damage further on is told in the result,
// which then covers what comes before, or of claims that cannot be. Claims change
// the history's.
func judge(path string, claims claimTerms, onlookers ...onlooking) (reports.Judged, error) {
	src, err := history.Open(path)
	if err != nil {
		return reports.Judged{}, err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	return judgeSource(watched(src, onlookers), path, claims, nil)
}

// A bystander sees how a history is judged while the run goes on that it is about.
type bystander interface {
	// judged is called after every event that was judged.
	judged(*checker.Checker, history.Event)
	// yield is called after it while everything is done by the goroutine that reads, to
	// leave the other cores to the clients; until it returns that the run is over.
	yield(*checker.Checker, history.Event) (over bool)
}

// judgeSource is judge for a history that is open already. Without a bystander several
// goroutines share the work, and come to the same.
func judgeSource(src history.Source, path string, claims claimTerms, by bystander) (reports.Judged, error) {
	was := src.Header()
	h, err := claims.header(was)
	if err != nil {
		return reports.Judged{}, err
	}
	if h.Design == "" {
		h.Design = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	j := reports.Judged{Header: h, History: path}
	if was.Translated {
		j.Notes = append(j.Notes, translated(was))
	}
	figures := measure.New(h)
	if w, seen := src.(watchedSource); seen {
		w.show(figures)
	}
	var verdicts interface {
		Finish(history.End) checker.Result
	}
	var damage error
	if by != nil {
		verdicts, damage = judgeBeside(src, h, figures, by)
	} else {
		verdicts, damage = judgeTogether(src, h, figures)
	}
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // a partial history says itself where and why it stops
	}
	j.Verdicts, j.Measures = verdicts.Finish(j.End), figures.Result(j.End)
	return j, nil
}

// judgeBeside reads, judges and measures src here while the run goes on and, to be done
// soon when it is over, judges and measures the rest in two goroutines beside this one.
func judgeBeside(src history.Source, h history.Header, figures *measure.Collector, by bystander) (*checker.Checker, error) {
	verdicts := checker.New(h)
	judge := func(ev history.Event) {
		verdicts.Add(ev)
		by.judged(verdicts, ev)
	}
	var judging, measuring *relay.Relay[history.Event] // nil while the run goes on
	damage := each(src, func(ev history.Event) {
		if judging != nil {
			judging.Add(ev)
			measuring.Add(ev)
			return
		}
		judge(ev)
		figures.Add(ev)
		if by.yield(verdicts, ev) {
			judging, measuring = relay.New(every(judge)), relay.New(every(figures.Add))
		}
	})
	if judging != nil {
		judging.Wait()
		measuring.Wait()
	}
	return verdicts, damage
}

// every is do for each of some events.
func every(do func(history.Event)) func([]history.Event) {
	return func(events []history.Event) {
		for _, ev := range events {
			do(ev)
		}
	}
}

// judgeTogether reads src here, and judges and measures it in other goroutines.
func judgeTogether(src history.Source, h history.Header, figures *measure.Collector) (*checker.Parallel, error) {
	verdicts := checker.NewParallel(h, runtime.GOMAXPROCS(0))
	measuring := relay.New(every(figures.Add))
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
