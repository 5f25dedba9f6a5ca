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
	j, _, err := judgeBy(src, path, claims, join(sinks...), onProcessors)
	return j, err
}

// A judgement takes the events of a history, and then returns the verdicts.
type judgement struct {
	add     func(history.Event)
	finish  func(history.End) checker.Result
	machine *checker.Machine // nil if the history is judged by itself
}

// sharesKeys reports whether a history is one of several machines that use the same keys.
func sharesKeys(h *history.Header) bool { return h.Others && !h.Share.Whole() }

// onProcessors begins a judgement that several goroutines share.
func onProcessors(h history.Header, figures *measure.Collector) judgement {
	if sharesKeys(&h) {
		return ofMachine(h, figures)
	}
	add, finish := checker.Parallel(h, runtime.GOMAXPROCS(0))
	return measured(judgement{add: add, finish: finish}, figures)
}

// ofMachine begins the judgement of one of several machines.
func ofMachine(h history.Header, figures *measure.Collector) judgement {
	m := checker.NewMachine(h)
	return measured(judgement{m.Add, m.Finish, m}, figures)
}

// measured returns a judgement that also measures, on a goroutine of its own.
func measured(j judgement, figures *measure.Collector) judgement {
	measuring := batch.New(func(events []history.Event) {
		for _, ev := range events {
			figures.Add(ev)
		}
	})
	add, finish := j.add, j.finish
	j.add = func(ev history.Event) {
		add(ev)
		measuring.Add(ev)
	}
	j.finish = func(end history.End) checker.Result {
		measuring.Wait()
		return finish(end)
	}
	return j
}

// stepByStep begins judgements that do all work on the calling goroutine, and call beside after each event. They come to
// the same result.
func stepByStep(beside func(Snapshot, history.Event)) func(history.Header, *measure.Collector) judgement {
	return func(h history.Header, figures *measure.Collector) (j judgement) {
		c := checker.New(h)
		j.add, j.finish = c.Add, c.Finish
		if sharesKeys(&h) {
			j.machine = checker.NewMachine(h)
			c, j.add, j.finish = j.machine.Checker, j.machine.Add, j.machine.Finish
		}
		add := j.add
		j.add = func(ev history.Event) {
			add(ev)
			figures.Add(ev)
			beside(Snapshot{checker: c, figures: figures}, ev)
		}
		return j
	}
}

// judgeBy is like [Judge] for an open history. It judges by the judgement that begin returns for the header, and returns
// the machine of that.
func judgeBy(src history.Source, path string, claims []string, sink Sink, begin func(history.Header, *measure.Collector) judgement) (results.Judged, *checker.Machine, error) {
	was := src.Header()
	h, err := withClaims(was, claims)
	if err != nil {
		return results.Judged{}, nil, err
	}
	if h.Design == "" {
		h.Design = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	j := results.Judged{Header: h, History: path}
	sink.Opened(was)
	figures := measure.New(h)
	by := begin(h, figures)
	damage := each(src, sink, by.add)
	if j.End = src.End(); !j.End.Partial {
		j.Err = damage // for a partial history, the verdicts have the place and reason of its end already
	}
	j.Verdicts = by.finish(j.End)
	j.Measures = figures.Result(j.End)
	j.Notes = append(j.Notes, notJudged(h, j.Verdicts.LeasesNotTold)...)
	return j, by.machine, nil
}

// othersNote is the note on a history that does not have all owners of its keys.
const othersNote = "owners who are not in the record may hold its keys: whether a key was free is not judged"

// sharedNote is the note on the history of one of several machines that use the same keys.
const sharedNote = "other machines used the same keys, so that nothing is judged by this history alone; hint: lockbench check --together, with the histories of all machines"

// notJudged returns notes on the questions that a history with this header cannot answer. leases is
// the number of grants with an unknown lease.
func notJudged(h history.Header, leases int64) (notes []string) {
	if leases > 0 {
		notes = append(notes, fmt.Sprintf("%d grants do not say how long they last (granted_ns): what rests on that is not judged", leases))
	}
	switch {
	case sharesKeys(&h):
		notes = append(notes, sharedNote)
	case h.Others:
		notes = append(notes, othersNote)
	}
	if h.Sample > 0 && h.Sample < 1 {
		notes = append(notes, fmt.Sprintf("%g of all keys are in the record, each wholly: counts and rates are of these", h.Sample))
	}
	return notes
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
