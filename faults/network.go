package faults

import (
	"fmt"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A proxy passes connections on to a server, for as long as it is open.
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

// Address is where the proxy listens.
func (p *proxy) Address() string { return p.Listen }

// Close breaks all connections and takes no more; it does nothing the second time.
func (p *proxy) Close() { p.Stop() }
