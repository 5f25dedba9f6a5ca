package relay

import (
	"slices"
	"time"
)

// A Fault is what is wrong with the network of a relay, in both directions. Several at a time add up.
type Fault struct {
	// Delay is how much later bytes arrive.
	Delay time.Duration
	// Rate is the largest number of bytes a second in each direction of a connection; zero is no
	// limit.
	Rate int
	// Discard lets no byte arrive. A connection that lost bytes breaks when the fault ends.
	Discard bool
}

// Begin lets f occur until the function that it returns is called.
func (r *Relay) Begin(f Fault) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, &f)
	r.change()
	return func() { r.end(&f) }
}

func (r *Relay) end(f *Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = slices.DeleteFunc(r.faults, func(other *Fault) bool { return other == f })
	r.change()
	if r.network.Load().discards {
		return
	}
	for l := range r.links {
		if l.lost.Load() {
			l.cut()
		}
	}
}

// change replaces the state of the network by that of the present faults. The caller holds mu.
func (r *Relay) change() { close(r.network.Swap(newNetwork(r.faults)).over) }

// A network is the state of the network while it does not change.
type network struct {
	delay    time.Duration
	rate     int
	discards bool
	over     chan struct{} // closed when another state follows
}

func newNetwork(faults []*Fault) *network {
	n := &network{over: make(chan struct{})}
	for _, f := range faults {
		n.delay += f.Delay
		n.discards = n.discards || f.Discard
		if f.Rate > 0 && (n.rate == 0 || f.Rate < n.rate) {
			n.rate = f.Rate
		}
	}
	return n
}

// good reports whether nothing is wrong.
func (n *network) good() bool { return n.delay == 0 && n.rate == 0 && !n.discards }
