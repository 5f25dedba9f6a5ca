package load

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/backend"
)

const (
	lookEvery = 100 * time.Millisecond
	// silence is how long no client may get an answer before the server itself is
	// asked, and for how long it then must fail to answer to be lost.
	silence   = 3 * time.Second
	probeTime = time.Second
)

// A watch looks after a run while the clients work.
type watch struct {
	run *run
	// answered is how many answers there were at the last look that saw more,
	// and since when there were no others.
	answered int64
	since    time.Time
	// silentSince is since when the server fails to answer, too.
	silentSince time.Time
	// used is what the servers had used when the warm-up was over.
	used []design.Usage
}

// until returns when the run is to end, and why.
func (w *watch) until(ctx context.Context) string {
	w.begin(ctx)
	tick := time.NewTicker(lookEvery)
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

// after returns a channel that reports when d is over, never when d is zero.
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
	case w.run.recorder != nil && w.run.recorder.Err() != nil:
		return EndedUnrecorded
	case w.serverLost(ctx):
		return EndedServerLost
	}
	return ""
}

// serverLost reports whether the server has answered nobody for long. That clients
// get no answers is no proof, for they may all be waiting or at work, or the
// design may have starved itself of connections; so the server is asked, too.
func (w *watch) serverLost(ctx context.Context) bool {
	s := &w.run.summary
	if n := s.Grants + s.Refused + s.Lost; n != w.answered {
		w.answered, w.since, w.silentSince = n, time.Now(), time.Time{}
		return false
	}
	if in := w.run.injector; time.Since(w.since) < silence || in != nil && in.Away() {
		return false
	}
	if w.run.probe(ctx) == nil {
		w.since, w.silentSince = time.Now(), time.Time{}
		return false
	}
	if w.silentSince.IsZero() {
		w.silentSince = time.Now()
	}
	return time.Since(w.silentSince) >= silence
}

// probe asks the server for something, with little patience.
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
