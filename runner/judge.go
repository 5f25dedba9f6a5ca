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
	"github.com/lockbench/lockbench/internal/results"
)

// Judge judges and measures the history in a file, which it reads once, and passes its events to
// sinks. Claims change the claims of the history, as lockbench check --claims does. Judge fails
// if the file cannot be opened or the claims are impossible. Damage further on is an error in the
// judgement, which then covers the part before it.
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

// judgeSource is [Judge] for an open history. During a run beside is called after each event, and
// one goroutine does all the work; if beside is nil several goroutines share the work, with the
// same result.
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
			beside(Snapshot{verdicts, figures}, ev)
		})
	} else {
		judge, end := checker.Parallel(h, runtime.GOMAXPROCS(0))
		finish, damage = end, measureBeside(src, judge, figures, sink)
	}
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // a partial history names the place and reason of its end itself
	}
	j.Verdicts, j.Measures = finish(j.End), figures.Result(j.End)
	j.Notes = append(j.Notes, notJudged(h, j.Verdicts.LeasesNotTold)...)
	return j, nil
}

// notJudged notes the questions that a history with this header and so many unknown leases leaves
// open.
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

// each hands every event of src to sink and do, up to the damage, which it returns.
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
