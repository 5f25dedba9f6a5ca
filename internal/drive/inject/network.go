package inject

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/lockbench/lockbench/internal/fault"
)

// SilenceProxies disables the proxy library's own log for the whole process. Programs
// call it before the first run.
func SilenceProxies() { zerolog.SetGlobalLevel(zerolog.Disabled) }

// A proxy forwards connections to a server while it is open.
type proxy struct{ *toxiproxy.Proxy }

// openProxy opens a proxy to a server's address, at a free port of the loopback.
func openProxy(upstream string) (*proxy, error) {
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(api, upstream, "127.0.0.1:0", upstream)
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("open a proxy to %s: %w", upstream, err)
	}
	return &proxy{p}, nil
}

// Address is the address at which the proxy listens.
func (p *proxy) Address() string { return p.Listen }

// Close breaks all connections and accepts no more; further calls do nothing.
func (p *proxy) Close() { p.Stop() }

// A dial opens a connection.
type dial = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialTo returns the function that connects the process to the server at addr: direct itself, or a
// function that connects through a proxy if a fault may affect the network.
func (p *Process) dialTo(addr string, direct dial) dial {
	upstream, detour := p.in.tcpAddresses[addr]
	if !detour {
		return direct
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		by, err := p.proxyTo(upstream)
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}
		return new(net.Dialer).DialContext(ctx, "tcp", by.Address())
	}
}

// proxyTo returns the process's proxy to a server, which it opens on first use.
func (p *Process) proxyTo(upstream string) (*proxy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if by := p.proxies[upstream]; by != nil {
		return by, nil
	}
	if p.crashed.Load() {
		return nil, errCrashed
	}
	by, err := openProxy(upstream)
	if err == nil {
		p.proxies[upstream] = by
	}
	return by, err
}

// closeProxies closes all proxies of the run.
func (in *Injector) closeProxies() {
	in.mu.Lock()
	all := in.processes
	in.mu.Unlock()
	for _, p := range all {
		p.mu.Lock()
		for _, by := range p.proxies {
			by.Close()
		}
		p.mu.Unlock()
	}
}

// directions are the streams of a connection.
var directions = []string{"upstream", "downstream"}

// disturbNetwork applies p to the connections of one process for a while. A black hole discards
// their data, and so ends with broken connections.
func (in *Injector) disturbNetwork(ctx context.Context, p *plan) error {
	victim := in.victim(p)
	if victim == nil {
		return nil
	}
	victim.note(string(p.Kind), int64(p.For))
	p.count(victim.holds(), victim.acquires())
	all := victim.openProxies()
	for _, by := range all {
		for _, direction := range directions {
			text := fmt.Sprintf(p.how.toxic, direction, p.By.Milliseconds(), p.N)
			if _, err := by.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
				return err
			}
		}
	}
	select {
	case <-time.After(p.For):
	case <-in.stopping:
	}
	for _, by := range all {
		by.Toxics.ResetToxics(ctx)
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

func (p *Process) openProxies() (all []*proxy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, by := range p.proxies {
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
