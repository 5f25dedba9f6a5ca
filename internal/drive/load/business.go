package load

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/workloads"
)

// sumBusiness sums up the business that the store records, after all clients have stopped. It skips
// a store that may have lost data.
func (r *run) sumBusiness(ctx context.Context) {
	if r.cfg.Workload.Business == nil || r.measured == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepTime)
	defer cancel()
	books, why := r.books(ctx)
	if why != "" {
		r.summary.Business = &runinfo.Business{Why: why}
		return
	}
	found := r.cfg.Workload.Business(books)
	r.summary.Business = &runinfo.Business{Says: r.cfg.Workload.Says(found), Figures: found}
}

// books returns the business records of all clients, or the reason why they cannot be used.
func (r *run) books(ctx context.Context) (all workloads.Books, why string) {
	_, keeps := r.cfg.records().(design.Keeper)
	switch {
	case r.running.Load() > 0:
		return all, fmt.Sprintf("%d clients are still inside a call", r.running.Load())
	case r.options.SharedKeys && !r.cfg.Share.Whole():
		return all, "other machines changed the same records"
	case r.summary.Ended == EndedServerLost:
		return all, "the server was lost"
	case keeps && r.cfg.Records == nil && fault.AffectStore(r.cfg.Faults):
		return all, "the faults of this run may lose what is in the store"
	}
	for _, g := range r.groups() {
		its, err := g.shared.Books(ctx, r.store, r.cfg.Workload)
		if err != nil {
			return all, fmt.Sprintf("the store cannot be relied on: %v", err)
		}
		all = all.Join(its)
	}
	return all, ""
}
