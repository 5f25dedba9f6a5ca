package workloads

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Run is the state that the clients of one run share. It is not changed while they run.
type Run struct {
	// Options are valid and have their defaults filled in.
	Options Options
	// Share is the part of the run that is here.
	Share runinfo.Share
	// Keys are the names of the locks.
	Keys []string
	// Lease is the longest duration of a granted lease, the unit of programs that count in leases.
	Lease time.Duration
	// Tolerance is how much longer than a lease the design itself keeps others out; slow holds
	// outlive it, too.
	Tolerance time.Duration
	// Renews means that the lock renews its leases by itself, or may. When time passes in steps,
	// renewals of several leases granted to one client at one instant fall due together, in random
	// order.
	Renews bool
	// Start is when the run began, and when its periods begin.
	Start time.Time
	// Over is closed when the run is over: clients then cut holds and pauses short and release
	// their locks.
	Over <-chan struct{}
	// Waiting is the context of acquires that may wait. The driver cancels it when the run is over;
	// everything else runs under the context given to Iterate. If it is nil, acquires do, too.
	Waiting context.Context

	books *books // nil if none are kept
	open  bool   // an open loop
}

// NewRun returns a run of o that begins now and is over when over is closed.
func NewRun(o Options, over <-chan struct{}) *Run {
	return &Run{
		Options: o,
		Keys:    keyNames(o.Keys),
		Lease:   o.TTL,
		Start:   time.Now(),
		Over:    over,
		open:    o.OpenLoop(),
	}
}

// Here reports whether the group of a key, client or process is in the share of this run, by its number.
func (r *Run) Here(number int) bool { return r.Share.Has(int64(r.Options.group(number))) }

// Prepare writes the initial records of p to the store, with versions below the versions of all
// clients.
func (r *Run) Prepare(ctx context.Context, store lockbench.Store, p Program) error {
	if p.Stock == nil {
		return nil
	}
	for i, key := range r.Keys {
		if !r.Here(i) {
			continue
		}
		rec := lockbench.Record{Value: p.Stock(r.Options), Version: uint64(i + 1)}
		if err := store.Write(ctx, key, rec); err != nil {
			return err
		}
	}
	return nil
}

// Client returns client id (from 0 on) of the run, which uses locker and store.
func (r *Run) Client(id int, locker lockbench.Locker, store lockbench.Store) *Client {
	o := &r.Options
	return &Client{
		ID:     id,
		Place:  id,
		locker: locker,
		store:  store,
		run:    r,
		asked:  lockbench.Options{TTL: o.TTL, Wait: o.Wait},
	}
}
