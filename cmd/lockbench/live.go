package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/load"
	"github.com/lockbench/lockbench/reports"
)

const (
	// farBehind is how far behind the run its judgement may be before that is said, and
	// muchUnread how many bytes of history must wait for it then.
	farBehind  = 2 * time.Second
	muchUnread = 1 << 20
)

// A watcher is who wants to know of a run before it is over.
type watcher struct {
	// progress is kept by the run and by its judgement.
	progress *load.Progress
	// found is called with everything that turns out to be broken, and when in the run
	// that was; late once, when the judgement falls far behind the run. Both are called
	// from the goroutine that judges.
	found func(f checker.Finding, at time.Duration)
	late  func(by time.Duration)
	// also are others who see what is judged, from the same goroutine.
	also []onlooking
	// check, when not nil, is called a few times a second with what judges.
	check func(*checker.Checker)
	// failed, when not nil, is closed when the run is certain to fail a threshold.
	failed chan struct{}
}

// A liveJudgement judges a history while it is recorded: the same bytes that end up in
// the file, by the code that judges the file.
type liveJudgement struct {
	watcher
	spool *history.Spool
	in    io.ReadCloser
	done  chan struct{}
	// ending is set when the run is over and nobody is in the way of the judgement.
	ending atomic.Bool

	// The goroutine's own until it is done.
	result  reports.Judged
	err     error
	began   time.Time
	pause   pauses
	evident bool          // what is kept of the history shows something broken
	worst   time.Duration // the farthest behind
	told    bool
}

// judgeLive begins to judge what is written to spool, the file at path. It ends when the
// spool is closed and was read to its end; wait waits for that.
func judgeLive(spool *history.Spool, path string, w watcher) *liveJudgement {
	l := &liveJudgement{watcher: w, spool: spool, in: spool.Reader(), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.run(path)
	}()
	return l
}

func (l *liveJudgement) run(path string) {
	defer l.in.Close()
	src, err := history.NewSource(l.in)
	if err != nil {
		l.err = fmt.Errorf("%s: %w", path, err)
		return
	}
	l.began = time.Now()
	l.result = judgeSource(watched(src, l.also), path, nil, l.look)
}

// wait ends the spool and returns the judgement, with what is to be said of it. The error
// is that of a history that has not even a header.
func (l *liveJudgement) wait() (reports.Judged, error) {
	l.ending.Store(true)
	closed := l.spool.Close()
	<-l.done
	j := l.result
	if closed != nil && j.Err == nil {
		j.Err = closed
	}
	if l.worst > farBehind {
		j.Notes = append(j.Notes, fmt.Sprintf("the judgement was up to %v behind the run; all of it was judged", l.worst.Round(100*time.Millisecond)))
	}
	if !l.spool.Whole() {
		j.Notes = append(j.Notes, l.remark(&j))
	}
	return j, l.err
}

// remark says what is left of a history of which only the beginning was kept, and forgets
// where it is when it shows nothing.
func (l *liveJudgement) remark(j *reports.Judged) string {
	if l.evident {
		return fmt.Sprintf("of the history the first %d MiB are kept, in which something broke; --history DIR keeps all", keptHistory>>20)
	}
	j.History = ""
	return fmt.Sprintf("the history was judged as it came and not kept beyond its first %d MiB; --history DIR keeps all", keptHistory>>20)
}

// look is called after every event was judged.
func (l *liveJudgement) look(c *checker.Checker, ev history.Event) {
	for _, f := range c.News() {
		l.evident = l.evident || l.spool.Kept()
		l.found(f, time.Duration(stampOf(ev)))
	}
	if !l.pause.due() {
		return
	}
	l.progress.Violations.Store(c.Violations())
	if l.check != nil {
		l.check(c)
	}
	if !l.ending.Load() {
		behind := l.spool.Behind()
		l.pause.rest(behind)
		l.keepUp(behind, time.Duration(stampOf(ev)))
	}
}

// keepUp notes how far behind the run the judgement is.
func (l *liveJudgement) keepUp(unread int64, at time.Duration) {
	if unread < muchUnread {
		return
	}
	behind := time.Since(l.began) - at
	l.worst = max(l.worst, behind)
	if behind > farBehind && !l.told {
		l.told = true
		l.late(behind)
	}
}

func stampOf(ev history.Event) int64 {
	if ev.Phase == history.Return {
		return ev.Op.Return
	}
	return ev.Op.Call
}
