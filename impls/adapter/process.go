package adapter

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// A process is one process of the adapter, with the relays by which it reaches its servers.
type process struct {
	env     design.Environment
	hello   Hello // that the design was made of
	set     Settings
	program *program
	clock   clock           // of the program, if stamps are its own; Ready sets it
	lied    func(why error) // is told of each answer whether its stamps are impossible; nil if they are not looked at
	widths  widths
	relays  []*relay.Relay
	owners  atomic.Int64
}

// open starts a process of the adapter.
func open(command string, hello Hello, set Settings, env design.Environment) (_ *process, err error) {
	p := &process{env: env, hello: hello, set: set}
	defer func() {
		if err != nil {
			p.closeRelays()
		}
	}()
	g := greeting{Hello: Version, Prefix: env.Prefix, Seed: seed(env.Random)}
	for _, s := range env.Services {
		if err := p.relay(s, &g); err != nil {
			return nil, err
		}
	}
	if p.program, err = start(command, g); err != nil {
		return nil, err
	}
	return p, nil
}

// request is asked about each request of the process before it is sent.
func (p *process) request(name string) (send bool, lost func()) {
	if onredis.OfConnection(strings.ToLower(name)) {
		return true, nil
	}
	if p.env.Commands != nil {
		p.env.Commands.Add(1)
	}
	if gate, is := p.env.Interceptor.(design.Gate); is {
		return gate.Request(name)
	}
	return true, nil
}

// relay opens a relay to a service, and adds its address to the greeting.
func (p *process) relay(service any, g *greeting) error {
	to, is := service.(design.Addressed)
	if !is {
		return fmt.Errorf("service of the environment is a %T, which has no address for a program; hint: give it another service", service)
	}
	listen := relay.ListenOpaque
	if redis, is := service.(onredis.Server); is {
		if len(redis.Nodes) > 0 {
			return errCluster
		}
		listen = relay.Listen
	}
	by, err := listen(to.DialServer, p.request)
	if err != nil {
		return err
	}
	p.relays = append(p.relays, by)
	g.Servers = append(g.Servers, to.URL(by.Address()))
	return nil
}

// errCluster is the error of an adapter on a cluster.
var errCluster = errors.New("an adapter cannot run on a Redis Cluster, whose nodes would lead its clients past the relay by which faults affect them; hint: name one server")

// seed reads a seed of at most 53 bits, which every language has as a number.
func seed(random io.Reader) uint64 {
	var b [8]byte
	if random == nil {
		random = rand.Reader
	}
	_, _ = io.ReadFull(random, b[:]) // a source that ends gives less randomness
	return binary.BigEndian.Uint64(b[:]) >> 11
}

// Locker implements [design.Process].
func (p *process) Locker(o design.Observer) lockbench.Locker {
	l := &locker{process: p, seen: o, number: int(p.owners.Add(1)), turn: make(chan struct{}, 1)}
	l.ask = l.call
	return l
}

// Ready implements [design.Program].
func (p *process) Ready(ctx context.Context) error {
	if err := p.program.await(ctx); err != nil {
		return err
	}
	if got := p.program.hello; got.Name != p.hello.Name || got.Version != p.hello.Version {
		return fmt.Errorf("adapter %q says that it is %s %s, and said before that it is %s %s; hint: it may say hello without a server", p.program.text, got.Name, got.Version, p.hello.Name, p.hello.Version)
	}
	if !p.set.Stamps {
		return nil
	}
	return p.setClock()
}

// setClock sets the clock of the program.
func (p *process) setClock() error {
	ours, err := readClock()
	if err == nil {
		p.clock, err = ours.since(p.program.hello.NowNS, p.program.began, p.program.arrived)
	}
	if err != nil {
		return fmt.Errorf("adapter %q: %w", p.program.text, err)
	}
	return nil
}

// Done implements [design.Program].
func (p *process) Done() <-chan struct{} { return p.program.done }

// Err implements [design.Program].
func (p *process) Err() error {
	if p.program.ending.Load() {
		return nil
	}
	return p.program.err()
}

// Suspend implements [design.Program].
func (p *process) Suspend() error { return p.program.process.Suspend() }

// Resume implements [design.Program].
func (p *process) Resume() error { return p.program.process.Resume() }

// Kill implements [design.Program].
func (p *process) Kill() error { return p.program.kill() }

// Close implements [design.Process].
func (p *process) Close() error {
	err := p.program.end()
	p.closeRelays()
	return err
}

func (p *process) closeRelays() {
	for _, by := range p.relays {
		by.Close()
	}
}
