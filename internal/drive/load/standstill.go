package load

import (
	"context"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/clockwatch"
	"github.com/lockbench/lockbench/internal/drive/serverwatch"
	"github.com/lockbench/lockbench/internal/drive/standstill"
)

// standstillWatch records standstills of the process and of its servers during a run.
type standstillWatch struct {
	watcher *standstill.Watcher
	closes  []func() error
}

// watchStandstills begins to record standstills, until the record is closed. It pings only servers
// in their own process on this machine, since the way to others takes an unknown time. A server of a Host
// is reached at an address of this machine.
func (r *run) watchStandstills() {
	if r.recorder == nil || r.cfg.unwatched {
		return
	}
	r.standstills = &standstillWatch{}
	c := standstill.Config{Bound: standstill.BoundFor(r.cfg.Design.Lease(r.options.TTL))}
	if r.injector != nil {
		c.Outages = r.injector.Outages
	}
	for _, s := range r.cfg.services() {
		prompt, can := s.(design.Prompt)
		if neighbour, local := s.(design.Neighbour); can && local && neighbour.Local() && r.cfg.Host == nil {
			ask, closing := prompt.Ask()
			_ = ask(context.Background()) // connect now, because that takes time
			c.Ask = append(c.Ask, ask)
			r.standstills.closes = append(r.standstills.closes, closing)
		}
	}
	r.standstills.watcher = standstill.Start(c.Record(r.recorder.Client(standstill.RecordedAs, standstill.RecordedAs)))
}

// watchServers begins to watch the servers of the user, until the record is closed. What happens to those of
// a Host is told by it.
func (r *run) watchServers(ctx context.Context) {
	if r.recorder != nil && !r.cfg.unwatched && r.cfg.Host == nil {
		r.serverWatch = serverwatch.Start(ctx, r.cfg.services(), r.prefix, r.recorder.Client(serverwatch.RecordedAs, serverwatch.RecordedAs))
	}
}

// watchClocks begins to compare clocks, until all clients have stopped.
func (r *run) watchClocks() {
	if r.recorder != nil && r.cfg.CommonClock != nil {
		r.clockWatch = clockwatch.Start(r.recorder.Base(), r.recorder.Client(clockwatch.RecordedAs, clockwatch.RecordedAs), r.cfg.CommonClock)
	}
}

// stop ends the recording and closes its connections.
func (s *standstillWatch) stop(summary *Summary) {
	if s == nil {
		return
	}
	s.watcher.Stop()
	for _, closing := range s.closes {
		if err := closing(); err != nil {
			summary.note("a connection that asks whether the server stands still did not close cleanly: %v", err)
		}
	}
}
