package workloads

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// A Run is what the clients of one run share. It is not changed while they run.
type Run struct {
	// Options are valid and have their defaults filled in.
	Options Options
	// Keys are the names of the locks.
	Keys []string
	// Lease is how long a lease may last that is granted: what a program counts in leases.
	Lease time.Duration
	// Tolerance is how much longer than a lease the design itself keeps others
	// out; slow holds outlive it too.
	Tolerance time.Duration
	// Renews: the lock renews its leases by itself, or may. Where time passes in steps, renewals of what
	// one client is granted at one instant fall due at one, too, and their order is chance.
	Renews bool
	// Start is when the run began: periods are counted from it.
	Start time.Time
	// Over is closed when the run is over: holds and pauses are cut short then,
	// and what is held is released.
	Over <-chan struct{}
	// Waiting is the context of acquires that may wait. It is the driver's to
	// cancel when the run is over; everything else runs under the context given
	// to Iterate. Nil is that one for all.
	Waiting context.Context

	books *books // nil where none are kept
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

// Prepare writes what clients of p find in the store, with versions below all of theirs.
func (r *Run) Prepare(ctx context.Context, store lockbench.Store, p Program) error {
	if p.Stock == nil {
		return nil
	}
	for i, key := range r.Keys {
		rec := lockbench.Record{Value: p.Stock(r.Options), Version: uint64(i + 1)}
		if err := store.Write(ctx, key, rec); err != nil {
			return err
		}
	}
	return nil
}

// Client returns client id (from 0 on) of the run, which locks by locker and
// works on store.
func (r *Run) Client(id int, locker lockbench.Locker, store lockbench.Store) *Client {
	o := &r.Options
	return &Client{
		ID:     id,
		locker: locker,
		store:  store,
		run:    r,
		asked:  lockbench.Options{TTL: o.TTL, Wait: o.Wait},
	}
}
