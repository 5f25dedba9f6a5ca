package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// A service is a service that libraries lock on.
type service struct {
	variable string // environment variable with its address for the tests
	start    func(context.Context) (address string, stop func() error, err error)
}

var (
	onRedis    = &service{"LIBRARIES_REDIS", startRedis}
	onPostgres = &service{"LIBRARIES_POSTGRES", startPostgres}
	onEtcd     = &service{"LIBRARIES_ETCD", startEtcd}
)

// running are the started services.
type running map[*service]instance

// An instance is a running service.
type instance struct {
	address string
	end     func() error
}

// address returns the address of s, which it starts if necessary.
func (r running) address(ctx context.Context, s *service) (string, error) {
	if i, ok := r[s]; ok {
		return i.address, nil
	}
	address, end, err := s.start(ctx)
	if err == nil {
		r[s] = instance{address, end}
	}
	return address, err
}

// stop ends all.
func (r running) stop() (err error) {
	for _, i := range r {
		err = errors.Join(err, i.end())
	}
	return err
}

func startRedis(ctx context.Context) (string, func() error, error) {
	server, err := servers.StartPrivate(ctx)
	if err != nil {
		return "", nil, err
	}
	return server.Options().Addr, server.Close, nil
}

func startPostgres(ctx context.Context) (string, func() error, error) {
	cluster, err := postgres.Start(ctx)
	if err != nil {
		return "", nil, err
	}
	return cluster.DSN(), cluster.Close, nil
}

// startEtcd starts a server of one member on loopback ports, in a folder of its own. Its heartbeats
// are ten times as fast as by default, so that it grants leases of a second.
func startEtcd(ctx context.Context) (_ string, _ func() error, err error) {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return "", nil, fmt.Errorf("%w; hint: install it (Debian: etcd-server)", err)
	}
	clients, errClients := servers.FreePort()
	peers, errPeers := servers.FreePort()
	dir, errDir := os.MkdirTemp("", "lockbench-etcd-")
	if err := errors.Join(errClients, errPeers, errDir); err != nil {
		return "", nil, err
	}
	server := exec.Command(program, "--data-dir", dir, "--log-level", "error", "--heartbeat-interval", "10", "--election-timeout", "100",
		"--listen-client-urls", "http://"+clients, "--advertise-client-urls", "http://"+clients,
		"--listen-peer-urls", "http://"+peers, "--initial-advertise-peer-urls", "http://"+peers, "--initial-cluster", "default=http://"+peers)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	end := func() error {
		err := server.Process.Kill()
		_ = server.Wait() // its error is that it was killed
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := accepts(ctx, clients); err != nil {
		return "", nil, errors.Join(fmt.Errorf("private etcd: %w", err), end())
	}
	return clients, end, nil
}

// accepts waits up to a minute for a listener at address.
func accepts(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("nobody listens at %s: %w", address, err)
		}
	}
}
