package servers

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// connectTimeout bounds everything that is done before a run: look-up, dialling,
// TLS, and waiting for a server that is loading its data.
const connectTimeout = 5 * time.Second

// Connect returns the running server at rawURL once it has shown, within 5 s,
// that it takes writes: redis://user:password@host:port/db, rediss:// for TLS or
// unix://user:password@/path/to/socket?db=n, with the query parameters of
// go-redis (skip_verify=true accepts any certificate) and, for TLS, ca_file, cert_file and key_file:
// PEM files of the authority that is trusted, and of the client's certificate and its key.
//
// Errors say what failed at which address, why, and what to try; they contain no
// password. Cluster and Sentinel are refused.
func Connect(ctx context.Context, rawURL string) (*Server, error) {
	opt, err := parseURL(rawURL)
	if err != nil {
		return nil, err
	}
	s := newServer(design.External, tune(*opt))
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if s.version, err = preflight(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

// reach opens and closes a connection, TLS included, to report early and exactly
// why there can be none.
func reach(ctx context.Context, opt *redis.Options) error {
	var dialer interface {
		DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	} = new(net.Dialer)
	if opt.TLSConfig != nil {
		dialer = &tls.Dialer{Config: opt.TLSConfig}
	}
	conn, err := dialer.DialContext(ctx, opt.Network, opt.Addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return refusedTLS(conn)
}
