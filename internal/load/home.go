package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/servers"
)

// A home is one process of the design, in which clients live.
type home struct {
	number  int
	process design.Process
	sent    *commands
	faults  *faults.Process // nil in a run without faults
	closing sync.Once
}

// commands counts what one process sent, away from what others count.
type commands struct {
	sent    atomic.Int64
	carried servers.Traffic
	_       [64]byte
}

// done is what processes sent and their connections carried.
type done struct {
	commands int64
	traffic  history.Traffic
}

func (d *done) add(h *home) {
	d.commands += h.sent.sent.Load()
	d.traffic.Sent += h.sent.carried.Sent.Load()
	d.traffic.Received += h.sent.carried.Received.Load()
}

// homes are the processes of a run, one at each place. Of those that died before it
// nothing is kept but what they counted.
type homes struct {
	mu    sync.Mutex
	at    []*home // by place
	made  int     // so far
	gone  done    // by those that are gone
	spent bool    // closed: nobody moves in any more
	errs  []error
}

// openHome opens the process for a place. Its number is one that no other has.
func (r *run) openHome(place int) (*home, error) {
	h := &home{number: r.homes.made, sent: &commands{}}
	r.homes.made++
	env := r.environment(h)
	if r.injector != nil {
		h.faults = r.injector.Process(h.number, &env)
	}
	for _, opt := range append(env.Others, env.Redis) {
		h.sent.carried.Meter(opt)
	}
	process, err := r.cfg.Design.Open(env)
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", h.number, err)
	}
	h.process = process
	if place == len(r.homes.at) {
		r.homes.at = append(r.homes.at, nil)
	}
	r.homes.at[place] = h
	return h, nil
}

func (r *run) environment(h *home) design.Environment {
	options := r.cfg.servers().Options()
	return design.Environment{
		Redis:    options[0],
		Others:   options[1:],
		Prefix:   r.prefix,
		Host:     fmt.Sprintf("server-%d", h.number),
		PID:      1000 + h.number,
		Now:      time.Now,
		Random:   processRandom(r.options.Seed, h.number),
		Commands: &h.sent.sent,
	}
}

// homeOf returns the process at a place, a fresh one where that died and was closed; nil
// when there can be none any more.
func (r *run) homeOf(place int) *home {
	r.homes.mu.Lock()
	defer r.homes.mu.Unlock()
	h := r.homes.at[place]
	if !h.dead() {
		return h
	}
	if r.homes.spent {
		return nil
	}
	fresh, err := r.openHome(place)
	if err != nil {
		r.homes.errs = append(r.homes.errs, err)
		return nil
	}
	r.homes.gone.add(h)
	return fresh
}

func (h *home) dead() bool { return h.faults != nil && h.faults.Dead() }

// close ends what the process does in the background and its connections, once.
func (h *home) close() (err error) {
	h.closing.Do(func() { err = h.process.Close() })
	return err
}

// closeProcesses closes every process of the run.
func (r *run) closeProcesses() {
	r.homes.mu.Lock()
	defer r.homes.mu.Unlock()
	r.homes.spent = true
	for _, h := range r.homes.at {
		if err := h.close(); err != nil && !h.dead() {
			r.summary.note("process %d of the design did not close cleanly: %v", h.number, err)
		}
	}
	for _, err := range r.homes.errs {
		r.summary.note("nothing took the place of a process that died: %v", err)
	}
	r.homes.errs = nil
}

// spendings is what all processes sent, and what their connections carried.
func (r *run) spendings() done {
	r.homes.mu.Lock()
	defer r.homes.mu.Unlock()
	all := r.homes.gone
	for _, h := range r.homes.at {
		all.add(h)
	}
	return all
}
