package runner

import (
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/spool"
)

const (
	// slice is how many events are judged between two pauses, some 2 ms of work: shorter ones
	// cost the clients more of their speed. A goroutine that yields without a pause keeps the
	// scheduler from looking for replies that came in.
	slice = 4096
	pause = 5 * time.Millisecond
	// tooLate is how far behind the run the judgement may be and still pause.
	tooLate = 500 * time.Millisecond
	// farBehind is how far behind the run its judgement may be before that is said, and
	// muchUnread how many bytes of history must wait for it then.
	farBehind  = 2 * time.Second
	muchUnread = 1 << 20
)

// A liveJudgement judges a history while it is recorded: the same bytes that end up in
// the file, by the code that judges the file. The first fields are shared with the run, the rest
// belong to one goroutine.
type liveJudgement struct {
	sink     Sink
	progress *load.Progress // kept by the run and by its judgement
	spool    *spool.Spool
	in       io.ReadCloser
	done     chan struct{}

	// The goroutine's own until it is done.
	result  Judged
	err     error
	began   time.Time
	so      Snapshot      // its checker is nil before the first event
	last    time.Duration // when in the run the event was that was judged last
	events  int
	shown   int           // events judged when sinks last had a snapshot
	evident bool          // what is kept of the history shows something broken
	oldest  time.Duration // how old an event was at most when it had been judged
	late    bool          // it fell far behind, and that was said
}

// judgeLive begins to judge what run r writes to spool, the file at path. It ends when the
// spool is closed and was read to its end; wait waits for that.
func judgeLive(spool *spool.Spool, path string, r liveRun) *liveJudgement {
	l := &liveJudgement{sink: r.sink, progress: r.progress, spool: spool, in: spool.Reader(), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.run(path)
	}()
	return l
}

func (l *liveJudgement) run(path string) {
	defer l.in.Close()
	src, err := history.NewSource(l)
	if err != nil {
		l.err = fmt.Errorf("%s: %w", path, err)
		return
	}
	l.began = time.Now()
	l.result, l.err = judgeSource(src, path, nil, l.sink, l.judged)
}

// Read implements io.Reader. All that was read before is judged, so sinks have a snapshot of it:
// the next event of a slow run may be long in coming.
func (l *liveJudgement) Read(b []byte) (int, error) {
	l.show()
	return l.in.Read(b)
}

// wait ends the spool and returns the judgement, with what is to be said of it. The error
// is that of a history that has not even a header. It is called once.
func (l *liveJudgement) wait() (Judged, error) {
	closed := l.spool.Close()
	<-l.done
	j := l.result
	if closed != nil && j.Err == nil {
		j.Err = closed
	}
	j.Within = l.oldest
	if l.late {
		j.Notes = append(j.Notes, fmt.Sprintf("the judgement was up to %v behind the run; all of it was judged", l.oldest.Round(100*time.Millisecond)))
	}
	if !l.spool.Whole() {
		j.Notes = append(j.Notes, l.remark(&j))
	}
	return j, l.err
}

// remark says what is left of a history of which only the beginning was kept, and forgets
// where it is when it shows nothing.
func (l *liveJudgement) remark(j *Judged) string {
	if l.evident {
		return fmt.Sprintf("of the history the first %d MiB are kept, in which something broke; --history DIR keeps all", keptHistory>>20)
	}
	j.History = ""
	return fmt.Sprintf("the history was judged as it came and not kept beyond its first %d MiB; --history DIR keeps all", keptHistory>>20)
}

// judged is called after every event was judged.
func (l *liveJudgement) judged(so Snapshot, ev history.Event) {
	l.so, l.last = so, time.Duration(stampOf(ev))
	l.events++
	for _, f := range so.checker.News() {
		l.evident = l.evident || l.spool.Kept()
		l.sink.Found(f, l.last)
	}
	if l.events%slice == 0 {
		l.show()
		if time.Since(l.began)-l.last < tooLate {
			time.Sleep(pause)
		}
	}
}

// show shows the sinks what the events judged so far come to.
func (l *liveJudgement) show() {
	if l.so.checker == nil || l.events == l.shown {
		return
	}
	l.shown = l.events
	l.progress.Violations.Store(l.so.checker.Violations())
	l.age(time.Since(l.began) - l.last)
	l.sink.SoFar(l.so)
}

// age notes how old an event is that was judged just now, and says once that the judgement
// fell far behind the run.
func (l *liveJudgement) age(is time.Duration) {
	l.oldest = max(l.oldest, is)
	if is > farBehind && !l.late && l.spool.Behind() >= muchUnread {
		l.late = true
		l.sink.say("the judgement is %v behind the run", is.Round(100*time.Millisecond))
	}
}

func stampOf(ev history.Event) int64 {
	if ev.Phase == history.Return {
		return ev.Op.Return
	}
	return ev.Op.Call
}
