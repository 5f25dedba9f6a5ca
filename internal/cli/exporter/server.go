package exporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	// path is the default path of scrapers.
	path = "/metrics"
	// patience bounds how long a scrape may keep the end of a session waiting.
	patience = time.Second
)

// A Server answers scrapes over HTTP until it is closed.
type Server struct {
	listener net.Listener
	http     http.Server
	served   chan error
}

// Serve listens on an address, host:port, on this machine's loopback only if it has no
// host; port 0 is any free port. The error says why there can be no server.
func Serve(address string, metrics http.Handler) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address: %w; hint: :9090, or 0.0.0.0:9090 to serve other machines", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+path, metrics)
	mux.Handle("GET /{$}", http.RedirectHandler(path, http.StatusFound))
	s := &Server{served: make(chan error, 1), http: http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	if s.listener, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, fmt.Errorf("%w; hint: another port, or :0 for any free port", err)
	}
	go func() { s.served <- s.http.Serve(s.listener) }()
	return s, nil
}

// URL returns the URL of the metrics.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + path }

// Close lets scrapes under way end, for a second, and ends the server. It returns the
// error that ended the server before, if there was one.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
