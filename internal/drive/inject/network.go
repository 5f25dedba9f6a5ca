package inject

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// A dial opens a connection.
type dial = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialTo returns the function that connects the process to the server at addr: direct itself, or a
// function that connects through a relay if a fault may affect the network.
func (p *Process) dialTo(addr string, direct dial) dial {
	upstream, detour := p.in.tcpAddresses[addr]
	if !detour {
		return direct
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		by, err := p.relayTo(upstream)
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}
		return new(net.Dialer).DialContext(ctx, "tcp", by.Address())
	}
}

// relayTo returns the process's relay to a server, which it opens on first use.
func (p *Process) relayTo(upstream string) (*relay.Relay, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if by := p.relays[upstream]; by != nil {
		return by, nil
	}
	if p.crashed.Load() {
		return nil, errCrashed
	}
	if p.in.closed.Load() {
		return nil, net.ErrClosed
	}
	by, err := relay.Listen(relay.To(upstream), nil)
	if err == nil {
		p.relays[upstream] = by
	}
	return by, err
}

// Close closes the relays of all processes. Call it after the processes are closed; calls that are still under
// way end with an error.
func (in *Injector) Close() {
	in.mu.Lock()
	in.closed.Store(true)
	all := slices.Clone(in.processes)
	in.mu.Unlock()
	for _, p := range all {
		p.mu.Lock()
		for _, by := range p.relays {
			by.Close()
		}
		p.mu.Unlock()
	}
}

// disturbNetwork applies p to the connections of one process for a while.
func (in *Injector) disturbNetwork(_ context.Context, p *plan) error {
	victim := in.victim(p)
	if victim == nil {
		return nil
	}
	victim.note(string(p.Kind), int64(p.For))
	p.count(victim.holds(), victim.acquires())
	for _, by := range victim.openRelays() {
		defer by.Begin(p.how.network(p))()
	}
	select {
	case <-time.After(p.For):
	case <-in.lasting.Done():
	}
	return nil
}

// victim draws a live process for p to affect, nil if there is none.
func (in *Injector) victim(p *plan) *Process {
	in.mu.Lock()
	defer in.mu.Unlock()
	var fit []*Process
	for _, one := range in.processes {
		if !one.crashed.Load() && (p.While != fault.Held || one.holds()) {
			fit = append(fit, one)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[in.chance.below(len(fit))]
}

func (p *Process) openRelays() (all []*relay.Relay) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, by := range p.relays {
		all = append(all, by)
	}
	return all
}

// hungUp records that the server is about to close all connections, for processes with commands
// that lockbench does not see. Clients of other processes record the cut when it affects them.
func (in *Injector) hungUp() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.processes {
		if !p.watched.Load() && !p.crashed.Load() {
			p.note(string(fault.Cut), 0)
		}
	}
}

// note records that a fault affects all clients of the process, and how long it lasts
// in ns.
func (p *Process) note(note string, lasts int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.record.Fault(note, lasts)
	}
}

// acquires reports whether any client of the process is acquiring a lock.
func (p *Process) acquires() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		if c.acquiring.Load() {
			return true
		}
	}
	return false
}
