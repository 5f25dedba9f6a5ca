package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
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
// go-redis (skip_verify=true accepts any certificate).
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

// parseURL is redis.ParseURL with errors that help and do not repeat a password.
func parseURL(rawURL string) (*redis.Options, error) {
	const forms = "hint: write redis://user:password@host:port/db, rediss://... for TLS or unix:///path/to/socket"
	scheme, rest, found := strings.Cut(rawURL, "://")
	switch {
	case !found:
		return nil, fmt.Errorf("server address has no scheme; %s", forms)
	case strings.Contains(scheme, "sentinel"), strings.Contains(scheme, "cluster"), strings.Contains(hostOf(rest), ","):
		return nil, fmt.Errorf("server address %s://...: Cluster and Sentinel are not supported; hint: name one primary that is no part of a cluster", scheme)
	case scheme != "redis" && scheme != "rediss" && scheme != "unix":
		return nil, fmt.Errorf("server address has scheme %q; %s", scheme, forms)
	}
	opt, err := redis.ParseURL(rawURL)
	if err == nil {
		return opt, nil
	}
	if strings.Contains(rest, "@") { // the error may quote any part of a password
		return nil, fmt.Errorf("server address %s://...@%s cannot be parsed; hint: escape special characters of user and password as %%XX", scheme, shown(rest))
	}
	var detail *url.Error
	switch isURL := errors.As(err, &detail); {
	case isURL && shown(rest) == hidden: // it quotes what stands in place of a port
		err = errors.New("invalid port")
	case isURL:
		err = detail.Err
	}
	return nil, fmt.Errorf("server address %s://%s cannot be parsed: %w; %s", scheme, shown(rest), err, forms)
}

// hidden stands for what may be part of a password.
const hidden = "..."

// shown is what an error says of the host of a URL that cannot be parsed: nothing of its
// query, and [hidden] where host and port may be part of a password, as in user:password
// without an @, or ?password=a@b.
func shown(rest string) string {
	host := hostOf(rest)
	_, port, _ := strings.Cut(host, ":")
	query := strings.IndexAny(rest, "?#")
	if query >= 0 && query < strings.LastIndex(rest, "@") || strings.Trim(port, "0123456789") != "" {
		return hidden
	}
	return host
}

// hostOf returns what stands for host and port in a URL after its scheme.
func hostOf(rest string) string {
	rest = rest[strings.LastIndex(rest, "@")+1:]
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return host
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
	return conn.Close()
}
