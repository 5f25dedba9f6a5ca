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
	prompt   bool           // see liveRun
	spool    *spool.Spool
	in       io.ReadCloser
	done     chan struct{}
	// over is closed when the run is: nobody is in the way of the judgement any more.
	over chan struct{}

	// The goroutine's own until it is done.
	result  Judged
	err     error
	began   time.Time
	so      Snapshot      // its checker is nil before the first event
	relayed bool          // other goroutines judge what is left
	last    time.Duration // when in the run the event was that was judged last
	events  int
	shown   int // events judged when sinks last had a snapshot
	pace    pace
	meter   meter
	evident bool          // what is kept of the history shows something broken
	oldest  time.Duration // how old an event was at most when it had been judged
	late    bool          // it fell far behind, and that was said
}

// judgeLive begins to judge what run r writes to spool, the file at path. It ends when the
// spool is closed and was read to its end; wait waits for that.
func judgeLive(spool *spool.Spool, path string, r liveRun) *liveJudgement {
	l := &liveJudgement{
		sink: r.sink, progress: r.progress, prompt: r.prompt,
		spool: spool, in: spool.Reader(), done: make(chan struct{}), over: make(chan struct{}),
	}
	l.pace.prompt = r.prompt
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
	l.meter.begin()
	l.result, l.err = judgeSource(src, path, nil, l.sink, &besideRun{judged: l.judged, rest: l.rest})
}

// Read implements io.Reader, and notes how long it waited for the clients. All that was
// read before is judged, so sinks have a snapshot of it: the next event of a slow run may be
// long in coming.
func (l *liveJudgement) Read(b []byte) (int, error) {
	l.show()
	began := time.Now()
	n, err := l.in.Read(b)
	l.meter.waited += time.Since(began)
	return n, err
}

// wait ends the spool and returns the judgement, with what is to be said of it. The error
// is that of a history that has not even a header. It is called once.
func (l *liveJudgement) wait() (Judged, error) {
	close(l.over)
	closed := l.spool.Close()
	<-l.done
	j := l.result
	if closed != nil && j.Err == nil {
		j.Err = closed
	}
	j.Within = l.oldest
	if l.prompt && l.late {
		j.Notes = append(j.Notes, fmt.Sprintf("the judgement was up to %v behind the run, so that it may have ended late; all of it was judged", l.oldest.Round(100*time.Millisecond)))
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
}

// show shows the sinks what the events judged so far come to.
func (l *liveJudgement) show() {
	if l.relayed || l.so.checker == nil || l.events == l.shown {
		return
	}
	l.shown = l.events
	l.progress.Violations.Store(l.so.checker.Violations())
	l.age(time.Since(l.began) - l.last)
	l.sink.SoFar(l.so)
}

// rest is called after every event that was judged while the run may go on, and lets the
// clients have the core now and then. It returns whether the run is over.
func (l *liveJudgement) rest() (over bool) {
	if l.events%slice != 0 {
		return false
	}
	l.show()
	l.pace.worked(l.meter.worked())
	for again := true; again; again = l.pace.owes() {
		select {
		case <-l.over:
			l.relayed = true
			return true
		case <-time.After(l.pace.rest(time.Since(l.began) - l.last)):
		}
		l.pace.rested(l.meter.rested())
		l.adapt()
		l.catchUp(l.last)
	}
	return false
}

// adapt sets the pace by what the clients have left.
func (l *liveJudgement) adapt() {
	if w, over := l.meter.window(); over {
		w.unread = l.spool.Behind()
		l.pace.adapt(w)
	}
}

// catchUp spares the clients no more once the monitor, which is never behind the run, has seen
// two owners inside at once. The last event judged was at at.
func (l *liveJudgement) catchUp(at time.Duration) {
	if l.pace.prompt || l.progress.Overlaps.Load() == 0 {
		return
	}
	l.pace.prompt = true
	if behind := time.Since(l.began) - at; behind > time.Second {
		l.sink.say("overlap seen; the checker is %v behind the run and catches up", behind.Round(100*time.Millisecond))
	}
}

// age notes how old an event is that was judged just now, and says once that the judgement
// fell far behind the run.
func (l *liveJudgement) age(is time.Duration) {
	l.oldest = max(l.oldest, is)
	if is > farBehind && !l.late && l.spool.Behind() >= muchUnread {
		l.late = true
		l.sink.say("the clients take all that the processors can do: the judgement is %v behind the run and catches up when that is over; --fail-fast keeps it close", is.Round(100*time.Millisecond))
	}
}

func stampOf(ev history.Event) int64 {
	if ev.Phase == history.Return {
		return ev.Op.Return
	}
	return ev.Op.Call
}
