package runner

import (
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/spool"
	"github.com/lockbench/lockbench/results"
)

const (
	// slice is the number of events judged between two pauses, some 2 ms of work: shorter slices
	// slow the clients more. A goroutine that yields without a pause keeps the scheduler from
	// polling for replies.
	slice = 4096
	pause = 5 * time.Millisecond
	// tooLate is the largest lag behind the run at which the judgement still pauses.
	tooLate = 500 * time.Millisecond
	// farBehind is the lag behind the run that is reported, if at least muchUnread bytes of
	// history wait for the judgement, too.
	farBehind  = 2 * time.Second
	muchUnread = 1 << 20
)

// A liveJudgement judges a history while it is recorded. It reads the bytes of the file and runs
// the code that judges saved histories. The first fields are shared with the run; the others belong
// to the judging goroutine.
type liveJudgement struct {
	sink     Sink
	progress *load.Progress // updated by the run and by its judgement
	spool    *spool.Spool
	in       io.ReadCloser
	done     chan struct{}

	// Fields of the goroutine until done is closed.
	result  results.Judged
	machine *checker.Machine // of a run on keys that other machines use, too; else nil
	err     error
	began   time.Time
	so      Snapshot      // its checker is nil before the first event
	last    time.Duration // stamp of the last judged event
	events  int
	shown   int           // number of events judged at the last snapshot for the sinks
	evident bool          // the kept part of the history shows a violation
	oldest  time.Duration // greatest age of an event when it had been judged
	late    bool          // the judgement fell far behind, and this was reported
}

// judgeLive begins to judge the history that run r writes to spool, the file at path. It ends
// when the spool is closed and read to its end; wait waits for that.
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
	l.result, l.machine, l.err = judgeBy(src, path, nil, l.sink, stepByStep(l.judged))
}

// Read implements io.Reader. All bytes read before are judged, so sinks get a snapshot: in a
// slow run the next event may be long in coming.
func (l *liveJudgement) Read(b []byte) (int, error) {
	l.show()
	return l.in.Read(b)
}

// wait closes the spool and returns the judgement with its notes. It fails if the history has no
// header. It may be called once.
func (l *liveJudgement) wait() (results.Judged, error) {
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

// remark returns a note about a history that was kept in part. If that part shows no violation
// it clears its path.
func (l *liveJudgement) remark(j *results.Judged) string {
	if l.evident {
		return fmt.Sprintf("of the history the first %d MiB are kept, in which something broke; --history DIR keeps all", keptHistory>>20)
	}
	j.History = ""
	return fmt.Sprintf("the history was judged as it came and not kept beyond its first %d MiB; --history DIR keeps all", keptHistory>>20)
}

// judged is called after each judged event.
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

// show passes the sinks a snapshot of the judgement.
func (l *liveJudgement) show() {
	if l.so.checker == nil || l.events == l.shown {
		return
	}
	l.shown = l.events
	l.progress.Violations.Store(l.so.checker.Violations())
	l.age(time.Since(l.began) - l.last)
	l.sink.SoFar(l.so)
}

// age records the age of an event just judged, and reports once that the judgement fell far
// behind the run.
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
