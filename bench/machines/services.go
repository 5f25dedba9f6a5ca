//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockbench/lockbench/internal/service/servers"
)

// startRedis starts a private Redis server, and returns its address on loopback, at which agents reach it.
func startRedis(ctx context.Context) (own *servers.Server, address string, err error) {
	if own, err = servers.StartPrivate(ctx); err != nil {
		return nil, "", err
	}
	if address, err = own.ListenTCP(ctx); err != nil {
		err = errors.Join(err, own.Close())
	}
	return own, address, err
}

// memberVariable is set in the environment of a server of a NATS cluster, and has its settings.
const memberVariable = "BENCH_MACHINES_NATS"

// A member is a server of a NATS cluster: where it listens for clients, for the other servers and for
// questions about its state.
type member struct {
	Address, Route, Monitor string
	Others                  []string // the Route of all

	process *process
}

// init makes this process a server if the environment has the settings of one: this program starts a
// server by starting itself again.
func init() {
	text, set := os.LookupEnv(memberVariable)
	if !set {
		return
	}
	if err := serve(text); err != nil {
		fmt.Fprintln(os.Stderr, "machines:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs a server of a cluster until it is killed.
func serve(text string) error {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	var ports [3]int
	var hosts [3]string
	for i, address := range []string{m.Address, m.Route, m.Monitor} {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if hosts[i] = host; err == nil {
			ports[i], err = strconv.Atoi(port)
		}
		if err != nil {
			return err
		}
	}
	o := &server.Options{
		ServerName: m.Address, Host: hosts[0], Port: ports[0], NoSigs: true,
		HTTPHost: hosts[2], HTTPPort: ports[2],
		Cluster: server.ClusterOpts{Name: "machines", Host: hosts[1], Port: ports[1]},
	}
	for _, other := range m.Others {
		if other != m.Route {
			o.Routes = append(o.Routes, server.RoutesFromStr("nats-route://"+other)...)
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	s.WaitForShutdown()
	return nil
}

// startCluster starts a cluster of so many servers, and returns when all know each other. Kill the members.
func startCluster(ctx context.Context, size int) (all []*member, err error) {
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	var routes []string
	for range size {
		m := &member{}
		for _, address := range []*string{&m.Address, &m.Route, &m.Monitor} {
			if *address, err = servers.FreePort(); err != nil {
				return nil, err
			}
		}
		all, routes = append(all, m), append(routes, m.Route)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		m.Others = routes
		text, err := json.Marshal(m)
		if err != nil {
			return all, err
		}
		command := exec.Command(self)
		command.Env = append(os.Environ(), memberVariable+"="+string(text))
		if m.process, err = startProcess(command); err != nil {
			m.process = nil
			return all, err
		}
	}
	for _, m := range all {
		var is server.Varz
		knows := func() bool {
			is, err = m.state(ctx)
			return err == nil && is.Remotes == size-1
		}
		if !poll(ctx, knows) {
			err = errors.Join(err, fmt.Errorf("a server of the cluster knows %d others", is.Remotes))
			return all, fmt.Errorf("%w\n%s", err, m.process.said.Tail())
		}
	}
	return all, nil
}

// state asks a server for its state.
func (m *member) state(ctx context.Context) (is server.Varz, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.Monitor+"/varz", nil)
	if err != nil {
		return is, err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return is, err
	}
	defer a.Body.Close()
	return is, json.NewDecoder(a.Body).Decode(&is)
}
