package bubble

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
)

// A Job is the task of a child: explore, or run one schedule again.
type Job struct {
	// Config's Design only needs its name and claims: the child looks the design up by name.
	Config explore.Config
	// Replay, unless it is empty, is run instead of an exploration. Then only the design of Config
	// is used.
	Replay explore.Replay
	// Patience is the real time after which a child without a step is killed; zero means 20 s.
	Patience time.Duration
}

// patience is the default of Patience: a thousand times the duration of a step on a busy machine
// with the race detector.
const patience = 20 * time.Second

// A Failure is the end of a child that did not answer: the lock code crashed or
// hung it. It proves nothing about the lock's guarantees.
type Failure struct {
	// Reason is the cause in one line.
	Reason string
	// Stderr is the end of the child's standard error.
	Stderr string
}

// Error implements error.
func (f *Failure) Error() string { return f.Reason }

// Run does job in a child process, which runs this same program: its main function must call Child
// first. tell is called from the calling goroutine.
//
// When ctx ends, the child is asked to stop, and the result has its findings until then. If a child
// crashes, or takes no step for Patience, the error is a *Failure; other errors are from
// explore.Run and from starting a process. Run is safe for concurrent use.
func Run(ctx context.Context, job Job, tell func(explore.Progress)) (explore.Result, error) {
	p, err := start(job)
	if err != nil {
		return explore.Result{}, fmt.Errorf("start a process to explore in: %w", err)
	}
	defer p.end()
	if job.Patience <= 0 {
		job.Patience = patience
	}
	return p.follow(ctx, job.Patience, tell)
}

// follow reads the messages of the child until it has answered or is killed.
func (p *process) follow(ctx context.Context, patience time.Duration, tell func(explore.Progress)) (explore.Result, error) {
	why := fmt.Sprintf("no step was taken for %v: the lock hangs, as by a mutex that is held while a command waits", patience)
	silence := time.NewTimer(patience)
	defer silence.Stop()
	interrupted, stopping := ctx.Done(), false
	for {
		select {
		case m, open := <-p.messages:
			switch {
			case !open:
				return explore.Result{}, p.died()
			case m.Answer != nil:
				return m.Answer.Result, m.Answer.err()
			case m.Progress != nil:
				tell(*m.Progress)
			}
			if !stopping {
				silence.Reset(patience)
			}
		case <-interrupted:
			interrupted, stopping, why = nil, true, "it was interrupted and did not stop"
			p.stop()
			silence.Reset(p.grace)
		case <-silence.C:
			return explore.Result{}, &Failure{Reason: why, Stderr: p.kill()}
		}
	}
}
