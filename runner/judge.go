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

// judgeSource is [Judge] for a history that is open already. With beside, which is called after
// each event, a run goes on meanwhile, and this goroutine alone does the work; without it several
// share it, with the same result.
func judgeSource(src history.Source, path string, claims []string, sink Sink, beside func(Snapshot, history.Event)) (Judged, error) {
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
	if beside != nil {
		verdicts := checker.New(h)
		finish = verdicts.Finish
		damage = each(src, sink, func(ev history.Event) {
			verdicts.Add(ev)
			figures.Add(ev)
			beside(Snapshot{verdicts, figures}, ev)
		})
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

// measureBeside reads and judges src here, and measures it in another goroutine.
func measureBeside(src history.Source, judge func(history.Event), figures *measure.Collector, sink Sink) (damage error) {
	measuring := relay.New(func(events []history.Event) {
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
