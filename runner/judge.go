package runner

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/batch"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/results"
)

// Judge judges and measures the history in the file path, which it reads once, and passes its
// events to sinks. The terms in claims change the claims of the history, as lockbench check
// --claims does. Judge returns an error if the file cannot be opened, its header cannot be read, or
// the claims are impossible. If the file is damaged further on, it judges the part before the
// damage, and sets Err in the judgement.
func Judge(path string, claims []string, sinks ...Sink) (results.Judged, error) {
	src, err := history.Open(path)
	if err != nil {
		return results.Judged{}, err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	defer collectAt(whileJudging)()
	return judgeSource(src, path, claims, join(sinks...), nil)
}

// judgeSource is like [Judge] for an open history. If beside is not nil, judgeSource calls it after
// each event and does all work on the calling goroutine. Otherwise several goroutines share the
// work; the result is the same.
func judgeSource(src history.Source, path string, claims []string, sink Sink, beside func(Snapshot, history.Event)) (results.Judged, error) {
	was := src.Header()
	h, err := withClaims(was, claims)
	if err != nil {
		return results.Judged{}, err
	}
	if h.Design == "" {
		h.Design = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	j := results.Judged{Header: h, History: path}
	sink.Opened(was)
	figures := measure.New(h)
	var finish func(history.End) checker.Result
	var damage error
	if beside != nil {
		verdicts := checker.New(h)
		finish = verdicts.Finish
		damage = each(src, sink, func(ev history.Event) {
			verdicts.Add(ev)
			figures.Add(ev)
			beside(Snapshot{checker: verdicts, figures: figures}, ev)
		})
	} else {
		judge, end := checker.Parallel(h, runtime.GOMAXPROCS(0))
		finish, damage = end, measureBeside(src, judge, figures, sink)
	}
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // for a partial history, the verdicts have the place and reason of its end already
	}
	j.Verdicts, j.Measures = finish(j.End), figures.Result(j.End)
	j.Notes = append(j.Notes, notJudged(h, j.Verdicts.LeasesNotTold)...)
	return j, nil
}

// notJudged returns notes on the questions that a history with this header cannot answer. leases is
// the number of grants with an unknown lease.
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

// measureBeside reads and judges src on the calling goroutine, and measures it on another.
func measureBeside(src history.Source, judge func(history.Event), figures *measure.Collector, sink Sink) (damage error) {
	measuring := batch.New(func(events []history.Event) {
		for _, ev := range events {
			figures.Add(ev)
		}
	})
	damage = each(src, sink, func(ev history.Event) {
		judge(ev)
		measuring.Add(ev)
	})
	measuring.Wait()
	return damage
}

// each passes every event of src to sink and do, in order, until the history ends or is damaged. It
// returns the damage.
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
