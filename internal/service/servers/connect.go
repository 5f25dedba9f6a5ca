package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// connectTimeout bounds the preparations of a run: look-up, dialling, TLS, and waiting for a server
// that is loading its data.
const connectTimeout = 5 * time.Second

// Connect returns the running server at rawURL once it has shown, within 5 s, that it takes writes.
// The forms are redis://user:password@host:port/db, rediss:// for TLS and
// unix://user:password@/path/to/socket?db=n, with the query parameters of go-redis
// (skip_verify=true accepts any certificate) and, for TLS, ca_file, cert_file and key_file: PEM
// files of the trusted authority, and of the client's certificate and key.
//
// Errors name the failure, the address, the reason and a hint; they contain no password.
//
// The address of a node of a Redis Cluster means the cluster. Each additional addr=host:port names
// another of its nodes, for when the first is down.
//
// With master_name=NAME the address is a Sentinel's, as is each additional addr=host:port: every
// connection goes to the server that they name at that time. The user and password are for the
// server; sentinel_username and sentinel_password are for the sentinels.
func Connect(ctx context.Context, rawURL string) (*Server, error) {
	opt, p, err := parseURL(rawURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if p.master == "" && len(p.others) > 0 {
		return connectCluster(ctx, tune(*opt), p)
	}
	s := newExternal(tune(*opt), p)
	s.version, err = preflight(ctx, s)
	if errors.Is(err, errCluster) && s.sentinels == nil && opt.Network != "unix" {
		return connectCluster(ctx, tune(*opt), p)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// connectCluster is Connect for a Redis Cluster: each of its primaries must take writes.
func connectCluster(ctx context.Context, opt redis.Options, p ownOptions) (*Server, error) {
	s := newCluster(opt, append([]string{opt.Addr}, p.others...))
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	for _, shard := range s.known() {
		var err error
		if s.version, err = preflight(ctx, shard); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", s.address, err)
		}
		shard.version = s.version
	}
	return s, nil
}

// newExternal returns the user's server at an address.
func newExternal(opt redis.Options, p ownOptions) *Server {
	s := newServer(design.External, opt)
	if p.master == "" {
		return s
	}
	s.sentinels = newSentinels(append([]string{opt.Addr}, p.others...), p, opt)
	s.options.Dialer = s.sentinels.dial
	s.secrets = append(s.secrets, p.sentinelPassword)
	s.stop = s.sentinels.close
	s.address += "?master_name=" + url.QueryEscape(p.master)
	for _, addr := range p.others {
		s.address += "&addr=" + addr
	}
	return s
}

// helloTimeout is how long a server may take to begin TLS before it is asked whether it speaks it. A
// Redis without TLS waits for the end of a line that never comes.
const helloTimeout = time.Second

// errPlain means that the server answers without TLS.
var errPlain = errors.New("it answers PING without TLS, and no TLS handshake")

// reach opens and closes a connection, TLS included, to report early and exactly why it fails.
func reach(ctx context.Context, s *Server) error {
	opt := s.Options()
	dial := new(net.Dialer).DialContext
	switch {
	case s.options.Dialer != nil:
		dial = opt.Dialer
	case opt.TLSConfig != nil:
		dial = dialTLS(opt.TLSConfig)
	}
	conn, err := dial(ctx, opt.Network, opt.Addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return refusedTLS(conn)
}

// dialTLS returns a function that opens a TLS connection, or returns [errPlain].
func dialTLS(config *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialer := &tls.Dialer{Config: config}
		early, cancel := context.WithTimeout(ctx, helloTimeout)
		defer cancel()
		conn, err := dialer.DialContext(early, network, addr)
		switch {
		case err == nil || early.Err() == nil || ctx.Err() != nil:
			return conn, err
		case answersPlain(ctx, network, addr):
			return nil, errPlain
		}
		return dialer.DialContext(ctx, network, addr)
	}
}

// answersPlain reports whether a server answers a command without TLS in time.
func answersPlain(ctx context.Context, network, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout/2)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	var first [1]byte
	_, err = io.ReadFull(conn, first[:])
	return err == nil && strings.ContainsRune("+-", rune(first[0])) // a RESP status or error, such as -NOAUTH
}
