package workloads

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench"
)

// A Run is what the clients of one run share. It is not changed while they run.
type Run struct {
	// Options are valid and have their defaults filled in.
	Options Options
	// Tolerance is how much longer than a lease the design itself keeps others
	// out; slow holds outlive it too.
	Tolerance time.Duration
	// Start is when the run began: periods are counted from it.
	Start time.Time
	// Over is closed when the run is over: holds and pauses are cut short then,
	// and what is held is released.
	Over <-chan struct{}
	// Waiting is the context of acquires that may wait. It is the driver's to
	// cancel when the run is over; everything else runs under the context given
	// to Iterate.
	Waiting context.Context

	keys []string
	open bool // an open loop
}

// NewRun returns a run of o that begins now and is over when over is closed.
func NewRun(o Options, over <-chan struct{}) *Run {
	return &Run{
		Options: o,
		Start:   time.Now(),
		Over:    over,
		Waiting: context.Background(),
		keys:    KeyNames(o.Keys),
		open:    o.OpenLoop(),
	}
}

// Keys returns the names of the run's keys. Callers must not change them.
func (r *Run) Keys() []string { return r.keys }

// Client returns client id (from 0 on) of the run, which locks by locker and
// works on store.
func (r *Run) Client(id int, locker lockbench.Locker, store lockbench.Store) *Client {
	o := &r.Options
	c := &Client{
		ID:     id,
		locker: locker,
		store:  store,
		run:    r,
		ask:    lockbench.Options{TTL: o.TTL, Wait: o.Wait},
		nested: lockbench.Options{TTL: o.NestedTTL},
	}
	c.source.Seed(clientSeed(o.Seed, id))
	c.random = rand.New(&c.source)
	c.key = keyChooser(o, id, c.random)
	return c
}

// clientSeed is what one client's choices begin from. Seed and client are mixed
// by a cipher first: generators seeded with neighbouring numbers would begin
// with related draws.
func clientSeed(seed uint64, client int) (uint64, uint64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(client))
	mix := rand.NewChaCha8(key)
	return mix.Uint64(), mix.Uint64()
}
