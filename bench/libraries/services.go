package main

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/internal/service/etcd"
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

func startEtcd(ctx context.Context) (string, func() error, error) {
	server, err := etcd.Start(ctx)
	if err != nil {
		return "", nil, err
	}
	return server.Endpoint(), server.Close, nil
}
