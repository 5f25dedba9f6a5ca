package load

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// A group is a set of clients with one task: the measured clients, or the stallers, which have
// keys and processes of their own.
type group struct {
	options workloads.Options
	shared  *workloads.Run
	first   int           // number of the first client
	places  int           // place of the group's first process
	over    chan struct{} // closed when no client of the group may begin another iteration
	stopped chan struct{} // closed when all clients of the group have stopped; unused for stallers
}

// here reports whether a client of the group, counted from 0, is in this share of the run.
func (g *group) here(client int) bool { return g.shared.Here(client) }

// clients returns the number of clients of the group in this share of the run.
func (g *group) clients() (n int) {
	for i := range g.options.Clients {
		if g.shared.Here(i) {
			n++
		}
	}
	return n
}

// place returns the place of a client's process.
func (g *group) place(client int) int { return g.places + (client-g.first)%g.options.Processes }

// openGroups makes the shared state of each group.
func (r *run) openGroups() {
	r.measured = r.group(r.options, 0, 0)
	stalled, any := r.options.Stalled()
	if !any {
		return
	}
	r.stalled = r.group(stalled, r.options.Clients, r.options.Processes)
	for i := range r.stalled.shared.Keys {
		r.stalled.shared.Keys[i] = fmt.Sprintf("stall-%04d", i)
	}
}

func (r *run) group(o workloads.Options, first, places int) *group {
	g := &group{options: o, first: first, places: places, over: make(chan struct{}), stopped: make(chan struct{})}
	g.shared = workloads.NewRun(o, g.over)
	g.shared.Share = r.cfg.Share
	copy(g.shared.Keys, r.cfg.Workload.KeyNames)
	if r.cfg.Workload.Business != nil {
		g.shared.KeepBooks()
	}
	g.shared.Lease, g.shared.Tolerance = r.cfg.Design.Lease(o.TTL), r.cfg.Design.Tolerance
	return g
}

// groups lists the groups of the run.
func (r *run) groups() []*group {
	if r.stalled == nil {
		return []*group{r.measured}
	}
	return []*group{r.measured, r.stalled}
}

// stalls returns the time that stallers need: until a hold has outlived its lease, another client
// has acquired the key, and the next commands of the first client have met the new hold.
func (g *group) stalls() time.Duration {
	lease := float64(g.shared.Lease)
	return time.Duration(g.options.SlowFactor*lease+lease/4) + g.shared.Tolerance
}

// untilStalled returns when each staller could stall once, or at once if the run ended early.
func (w *watch) untilStalled(ctx context.Context) {
	r := w.run
	if r.summary.Ended != EndedDuration && r.summary.Ended != EndedOperations {
		return
	}
	rest := time.NewTimer(time.Until(r.stalled.shared.Start.Add(r.stalled.stalls())))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	case <-r.cfg.Broken:
	case <-r.cfg.Failed:
	case <-backend.Done(r.cfg.Services.First()):
	}
}
