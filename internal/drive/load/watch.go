package load

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
)

const (
	checkInterval = 100 * time.Millisecond
	// silenceBound is how long clients may go without answers before the server itself is probed,
	// and how long the server may then fail to answer before it counts as lost.
	silenceBound = 3 * time.Second
	probeTime    = time.Second
)

// A watch supervises a run while the clients work.
type watch struct {
	run *run
	// answered is the number of answers so far, and since the time at which it last grew.
	answered int64
	since    time.Time
	// silentSince is the time since which the server fails to answer, too.
	silentSince time.Time
	// warmupCPU is the usage of the servers at the end of the warm-up.
	used []design.Usage
}

// until waits for the end of the run and returns its reason.
func (w *watch) until(ctx context.Context) string {
	w.begin(ctx)
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	end, stop := after(w.run.options.Duration)
	defer stop()
	warm, cold := after(w.run.options.Warmup)
	defer cold()
	for {
		select {
		case <-ctx.Done():
			return EndedInterrupted
		case <-end:
			return EndedDuration
		case <-w.run.measured.stopped:
			return EndedOperations
		case <-w.run.cfg.Broken:
			return EndedBroken
		case <-w.run.cfg.Failed:
			return EndedFailed
		case <-backend.Done(w.run.cfg.Services.First()):
			return EndedServerLost
		case <-warm:
			w.used = w.run.usage(ctx)
		case <-tick.C:
			if why := w.look(ctx); why != "" {
				return why
			}
		}
	}
}

// after returns a channel that receives after d, never if d is zero.
func after(d time.Duration) (<-chan time.Time, func() bool) {
	if d == 0 {
		return nil, func() bool { return true }
	}
	timer := time.NewTimer(d)
	return timer.C, timer.Stop
}

func (w *watch) begin(ctx context.Context) {
	if w.run.options.Warmup == 0 {
		w.used = w.run.usage(ctx)
	}
	w.since = time.Now()
	if p := w.run.cfg.Progress; p != nil {
		p.Duration.Store(int64(w.run.options.Duration))
		p.Started.Store(w.since.UnixNano())
	}
}

func (w *watch) look(ctx context.Context) (why string) {
	w.report()
	switch {
	case w.run.diedAlone() != nil:
		return EndedProgramLost
	case w.run.recorder != nil && w.run.recorder.Err() != nil:
		return EndedUnrecorded
	case w.serverLost(ctx):
		return EndedServerLost
	}
	return ""
}

// serverLost reports whether the server has not answered for long. Clients without answers are no
// proof: all of them may wait or work, or the design may have run out of connections. So the server
// is probed, too.
func (w *watch) serverLost(ctx context.Context) bool {
	s := &w.run.summary
	if n := s.Grants + s.Refused + s.Lost; n != w.answered {
		w.answered, w.since, w.silentSince = n, time.Now(), time.Time{}
		return false
	}
	if in := w.run.injector; time.Since(w.since) < silenceBound || in != nil && in.Away() {
		return false
	}
	if w.run.probe(ctx) == nil {
		w.since, w.silentSince = time.Now(), time.Time{}
		return false
	}
	if w.silentSince.IsZero() {
		w.silentSince = time.Now()
	}
	return time.Since(w.silentSince) >= silenceBound
}

// probe pings the server with a short timeout.
func (r *run) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	return r.cfg.Services.First().Ping(ctx)
}

// report adds up what the clients have counted so far.
func (w *watch) report() {
	s := &w.run.summary
	t := w.run.totals.total()
	s.Grants, s.Refused, s.Lost, s.Failed, s.Done, s.Skipped = t.grants, t.refused, t.lost, t.failed, t.done, t.skipped
	p := w.run.cfg.Progress
	if p == nil {
		return
	}
	p.Grants.Store(s.Grants)
	p.Refused.Store(s.Refused)
	p.Failed.Store(s.Failed)
}
