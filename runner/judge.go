package runner

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/relay"
)

// Judge judges and measures the history in a file, which it reads once, and informs sinks of
// what is in it. Claims change those of the history, as lockbench check --claims does. The
// error is that of opening it, or of claims that cannot be; damage further on stands in the
// judgement, which then covers what comes before.
func Judge(path string, claims []string, sinks ...Sink) (Judged, error) {
	src, err := history.Open(path)
	if err != nil {
		return Judged{}, err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	defer collectAt(whileJudging)()
	return judgeSource(src, path, claims, join(sinks...), nil)
}

// besideRun is what is done between the events of a history while the run goes on that it is
// about.
type besideRun struct {
	// judged is called after every event that was judged.
	judged func(Snapshot, history.Event)
	// rest is called after it while everything is done by the goroutine that reads, to
	// leave the other cores to the clients, until it returns that the run is over.
	rest func() (over bool)
}

// judgeSource is [Judge] for a history that is open already. Where no run goes on beside it,
// several goroutines share the work, and come to the same.
func judgeSource(src history.Source, path string, claims []string, sink Sink, run *besideRun) (Judged, error) {
	was := src.Header()
	h, err := withClaims(was, claims)
	if err != nil {
		return Judged{}, err
	}
	if h.Design == "" {
		h.Design = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	j := Judged{Header: h, History: path}
	sink.Opened(was)
	figures := measure.New(h)
	var finish func(history.End) checker.Result
	var damage error
	if run != nil {
		finish, damage = judgeBeside(src, h, figures, sink, run)
	} else {
		judge, end := checker.Parallel(h, runtime.GOMAXPROCS(0))
		finish, damage = end, measureBeside(src, judge, figures, sink)
	}
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // a partial history says itself where and why it stops
	}
	j.Verdicts, j.Measures = finish(j.End), figures.Result(j.End)
	j.Notes = append(j.Notes, notJudged(h, j.Verdicts.LeasesNotTold)...)
	return j, nil
}

// notJudged notes what a history with this header leaves open, and the leases that it does not
// tell.
func notJudged(h history.Header, leases int64) (notes []string) {
	if leases > 0 {
		notes = append(notes, fmt.Sprintf("%d grants do not say how long they last (granted_ns): what rests on that is not judged", leases))
	}
	if h.Others {
		notes = append(notes, "owners who are not in the record may hold its keys: whether a key was free is not judged")
	}
	if h.Sample > 0 && h.Sample < 1 {
		notes = append(notes, fmt.Sprintf("%g of all keys are in the record, each wholly: counts and rates are of these", h.Sample))
	}
	return notes
}

// judgeBeside reads, judges and measures src here while the run goes on and, to be done
// soon when it is over, judges and measures the rest in two goroutines beside this one.
func judgeBeside(src history.Source, h history.Header, figures *measure.Collector, sink Sink, run *besideRun) (finish func(history.End) checker.Result, damage error) {
	verdicts := checker.New(h)
	judge := func(ev history.Event) {
		verdicts.Add(ev)
		run.judged(Snapshot{verdicts, figures}, ev)
	}
	var judging, measuring *relay.Relay[history.Event] // nil while the run goes on
	damage = each(src, sink, func(ev history.Event) {
		if judging != nil {
			judging.Add(ev)
			measuring.Add(ev)
			return
		}
		judge(ev)
		figures.Add(ev)
		if run.rest() {
			judging, measuring = relay.New(every(judge)), relay.New(every(figures.Add))
		}
	})
	if judging != nil {
		judging.Wait()
		measuring.Wait()
	}
	return verdicts.Finish, damage
}

// every is do for each of some events.
func every(do func(history.Event)) func([]history.Event) {
	return func(events []history.Event) {
		for _, ev := range events {
			do(ev)
		}
	}
}

// measureBeside reads and judges src here, and measures it in another goroutine.
func measureBeside(src history.Source, judge func(history.Event), figures *measure.Collector, sink Sink) (damage error) {
	measuring := relay.New(every(figures.Add))
	damage = each(src, sink, func(ev history.Event) {
		judge(ev)
		measuring.Add(ev)
	})
	measuring.Wait()
	return damage
}

// each hands every event of src to sink and to do, up to the damage that it returns.
func each(src history.Source, sink Sink, do func(history.Event)) error {
	defer func() { sink.Closed(src.End()) }()
	for ev, err := range src.Events() {
		if err != nil {
			return err
		}
		if sink.Event != nil {
			sink.Event(ev)
		}
		do(ev)
	}
	return nil
}
