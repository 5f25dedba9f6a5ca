package machines

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/runner"
)

// A Config describes a coordinator and the machines that it waits for.
type Config struct {
	// Machines is the number of agents.
	Machines int
	// Listen is the address at which the private NATS server listens, HOST:PORT; port 0 is a free one.
	// URL is the address of a NATS server or cluster of the user's in its place, empty for none.
	Listen, URL string
	// Token is the secret of the agents; empty draws one.
	Token string
	// Certificate and Key are files in PEM for TLS of the private server, empty for none.
	Certificate, Key string
	// Servers are the addresses of the servers under test.
	Servers []string
	// Private is set if the servers of a run are this machine's, so that agents reach them through it.
	Private bool
	// Say receives lines for people.
	Say func(format string, args ...any)
}

const (
	// beatInterval is the time between two beats of an agent.
	beatInterval = 250 * time.Millisecond
	// silentAfter is the silence that is said.
	silentAfter = 4 * beatInterval
	// lostAfter is the silence after which an agent is lost: the rest of its history is given up, and no
	// other run is made.
	lostAfter = 20 * beatInterval
	// startDelay is the time from the readiness of all agents to the start of their clients.
	startDelay = time.Second
	// patience bounds how long a coordinator waits for its agents to come.
	patience = 10 * time.Minute
)

// A Coordinator lets agents make runs. It implements [runner.Machines].
type Coordinator struct {
	config   Config
	door     *nats.Door // nil with a server of the user's
	conn     *natsgo.Conn
	probed   *natsgo.Conn // answers questions for the raw clock; nil until a run needs it
	tunnel   *tunnel      // nil until a run needs it
	subjects string
	began    time.Time

	mu       sync.Mutex
	machines []*machine // in the order of their shares; nil until an agent has come
	come     chan struct{}
	complete bool // all agents have come
	run      int
	ending   sync.Once
}

var _ runner.Machines = (*Coordinator)(nil)

// Open starts a NATS server, or connects to the user's, says the command for the other machines, and returns
// when all agents have come, within ten minutes. Close ends it and the agents.
func Open(ctx context.Context, config Config) (c *Coordinator, err error) {
	said := "..." // who gave a token knows it
	if config.Token == "" {
		config.Token = rand.Text()
		said = config.Token
	}
	c = &Coordinator{config: config, subjects: subjects(config.Token), began: time.Now(), machines: make([]*machine, config.Machines), come: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.connect(ctx); err != nil {
		return c, err
	}
	if err := errors.Join(serve(c.conn, c.subjects+helloVerb, c.greet), serve(c.conn, c.subjects+beatVerb, c.hear)); err != nil {
		return c, err
	}
	if err := c.conn.FlushTimeout(tryTime); err != nil {
		return c, err
	}
	if config.Private { // now, because it may fail
		if err := c.openTunnel(); err != nil {
			return c, err
		}
	}
	where := "on the other machine"
	if config.Machines > 1 {
		where = fmt.Sprintf("on each of the %d machines", config.Machines)
	}
	config.Say("%s:\n  %s --token %s", where, c.command(), said)
	return c, c.await(ctx)
}

func (c *Coordinator) connect(ctx context.Context) (err error) {
	if c.config.URL != "" {
		if c.conn, err = c.dial(ctx); err != nil {
			return err
		}
		switch _, err := send(ctx, c.conn, c.subjects+beatVerb, beat{}); {
		case errors.Is(err, natsgo.ErrNoResponders):
			return nil
		case err == nil:
			return fmt.Errorf("--nats %s: another run with this token is there; hint: another --token, or none", shown(c.config.URL))
		default:
			return fmt.Errorf("--nats %s: %w; hint: may this user publish and subscribe below lockbench. and _INBOX.?", shown(c.config.URL), err)
		}
	}
	door := &nats.Door{Address: c.config.Listen, Token: c.config.Token, Certificate: c.config.Certificate, Key: c.config.Key}
	if err := door.Open(ctx); err != nil {
		return err
	}
	c.door = door
	c.conn, err = c.dial(ctx)
	return err
}

// dial connects to the NATS server.
func (c *Coordinator) dial(ctx context.Context) (*natsgo.Conn, error) {
	if c.door == nil {
		return dial(ctx, c.config.URL, "")
	}
	return c.door.Connect(options()...)
}

// command returns the command that starts an agent, without its token and passwords.
func (c *Coordinator) command() string {
	url := shown(c.config.URL)
	if c.door != nil {
		scheme := "nats"
		if c.config.Certificate != "" {
			scheme = "tls"
		}
		host, port, _ := net.SplitHostPort(c.door.Address) // it listens there
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = ownAddress()
		}
		url = scheme + "://" + net.JoinHostPort(host, port)
	}
	return "lockbench agent " + url
}

// ownAddress returns an address of this machine that others may reach, else the one of loopback.
func ownAddress() string {
	addresses, _ := net.InterfaceAddrs() // else loopback
	for _, a := range addresses {
		if n, is := a.(*net.IPNet); is && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// greet gives an agent a number, the same one if it asks again.
func (c *Coordinator) greet(h hello) (w welcome, err error) {
	if is := buildinfo.Version(); h.Version != is {
		return w, fmt.Errorf("the agent on %s is lockbench %s, and the coordinator is %s; hint: the same lockbench on all machines", h.Host, h.Version, is)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.machines, func(m *machine) bool { return m != nil && m.hello.ID == h.ID })
	if at < 0 {
		at = slices.IndexFunc(c.machines, func(m *machine) bool { return m == nil || !c.complete && m.isSilent() })
	}
	if at < 0 {
		return w, fmt.Errorf("all %d agents have come; hint: --agents %d, or end one: %s", len(c.machines), len(c.machines)+1, strings.Join(c.names(), ", "))
	}
	if c.machines[at] == nil || c.machines[at].hello.ID != h.ID {
		c.machines[at] = newMachine(c, h, runinfo.Share{Index: at, Of: len(c.machines)})
		c.config.Say("machine %d of %d has come: %s, process %d", at+1, len(c.machines), h.Host, h.PID)
	}
	select {
	case c.come <- struct{}{}:
	default:
	}
	return welcome{Share: c.machines[at].share}, nil
}

// names lists the agents that have come. The caller holds c.mu.
func (c *Coordinator) names() (all []string) {
	for _, m := range c.machines {
		if m != nil {
			all = append(all, m.String())
		}
	}
	return all
}

// hear answers a beat with the clock.
func (c *Coordinator) hear(b beat) (instant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.machines, func(m *machine) bool { return m != nil && m.hello.ID == b.ID })
	if i < 0 {
		return instant{}, errors.New("another agent has come in the place of this one")
	}
	c.machines[i].heard(b)
	return instant{Clock: c.now(), Wall: time.Now().UnixNano()}, nil
}

// now is the clock that agents compare theirs with, in ns.
func (c *Coordinator) now() int64 { return int64(time.Since(c.began)) }

// await waits until all agents have come.
func (c *Coordinator) await(ctx context.Context) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		names := c.names()
		c.complete = len(names) == len(c.machines)
		c.mu.Unlock()
		if c.complete {
			return nil
		}
		select {
		case <-c.come:
		case <-c.ended():
			return c.door.Err()
		case <-late.C:
			return fmt.Errorf("--agents %d: %d have come in %v; hint: %s", len(c.machines), len(names), patience, c.command())
		case <-ctx.Done():
			return fmt.Errorf("--agents %d: %d have come: %w", len(c.machines), len(names), context.Cause(ctx))
		}
	}
}

// ended returns a channel that is closed when the private server has ended by itself.
func (c *Coordinator) ended() <-chan struct{} {
	if c.door == nil {
		return nil
	}
	return c.door.Done()
}

// SayTo changes the receiver of lines for people. It does nothing to a nil Coordinator.
func (c *Coordinator) SayTo(say func(string, ...any)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.config.Say = say
}

// Len implements [runner.Machines].
func (c *Coordinator) Len() int { return len(c.machines) }

// Err implements [runner.Machines]: each agent that is lost or ends is a reason.
func (c *Coordinator) Err() error {
	if c.door != nil && c.door.Err() != nil {
		return c.door.Err()
	}
	for _, m := range c.machines {
		if err := m.awaitFit(); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for all machines at once.
func each[R any](all []*machine, f func(i int, m *machine) R) []R {
	results := make([]R, len(all))
	var work sync.WaitGroup
	for i, m := range all {
		work.Go(func() { results[i] = f(i, m) })
	}
	work.Wait()
	return results
}

// Record implements [runner.Machines].
func (c *Coordinator) Record(ctx context.Context, run load.Config, histories []io.Writer) ([]runner.Part, error) {
	c.mu.Lock()
	c.run++
	number := c.run
	for _, m := range c.machines {
		m.copied = false
	}
	c.mu.Unlock()
	asked := context.WithoutCancel(ctx) // the end of ctx ends the run, not the requests
	if run.Options.SharedKeys {
		run.Prefix = servers.NewPrefix()
		if err := c.answerProbes(ctx); err != nil {
			return make([]runner.Part, len(c.machines)), err
		}
	}
	its := newOrder(&run, c.config.Servers)
	its.Run = number
	if err := c.offer(ctx, &its, &run); err != nil {
		return make([]runner.Part, len(c.machines)), err
	}
	faults, err := c.openFaults(ctx, run, number)
	if err != nil {
		return make([]runner.Part, len(c.machines)), err
	}
	parts := each(c.machines, func(_ int, m *machine) runner.Part { return runner.Part{Err: m.open(ctx, asked, its)} })
	failed := slices.ContainsFunc(parts, func(p runner.Part) bool { return p.Err != nil })
	var unprepared error
	if !failed {
		unprepared = faults.prepare(ctx)
	}
	if failed || unprepared != nil || ctx.Err() != nil {
		c.dropAll(ctx, &its, parts)
		return parts, errors.Join(unprepared, faults.close())
	}
	at := c.now() + int64(startDelay)
	begun := each(c.machines, func(_ int, m *machine) error { return m.begin(asked, start{Run: number, At: at}) })
	over := make(chan struct{})
	var watching sync.WaitGroup
	faults.begin(c.began.Add(time.Duration(at)), run.Options.Duration)
	watching.Go(func() { c.watch(ctx, run, number, at, over, faults.end) })
	parts = each(c.machines, func(i int, m *machine) runner.Part {
		if begun[i] != nil {
			m.setCopied(true)
			return runner.Part{Machine: m.about(result{}), Err: m.tear(begun[i])}
		}
		return m.copy(asked, number, histories[i])
	})
	close(over)
	watching.Wait()
	return parts, faults.close()
}

// dropAll stops a run that will not begin on the machines that have opened it, whose parts have no error yet.
func (c *Coordinator) dropAll(ctx context.Context, its *order, parts []runner.Part) {
	each(c.machines, func(i int, m *machine) error {
		err := &parts[i].Err
		if its.Options.SharedKeys {
			_ = m.sweep(ctx, sweep{Run: its.Run}) // no client has begun; who does not hear it leaves its keys
		}
		if *err == nil {
			*err = m.drop(context.WithoutCancel(ctx), its.Run)
		}
		if *err == nil {
			*err = ctx.Err()
		}
		m.setCopied(true)
		return nil
	})
}

// watch keeps the progress of a run up to date and ends it early if it shall end, until over is closed. It calls
// ending when the run ends, or when it is over on a machine. It lets machines remove shared keys.
func (c *Coordinator) watch(ctx context.Context, run load.Config, number int, at int64, over <-chan struct{}, ending func()) {
	tick := time.NewTicker(beatInterval / 2)
	defer tick.Stop()
	done, broken, failed := ctx.Done(), run.Broken, run.Failed
	asked := c.machines  // machines that have not yet taken the stop
	untold := c.machines // machines that have not been told that all clients have stopped
	for why := ""; ; {
		select {
		case <-over:
			c.progress(run.Progress, number, at)
			return
		case <-tick.C:
			c.progress(run.Progress, number, at)
			c.saySilent()
			if c.anyOver(number) {
				ending()
			}
			if run.Options.SharedKeys {
				untold = c.tellStopped(ctx, number, untold)
			}
		case <-done:
			why, done, asked = load.EndedInterrupted, nil, c.machines
		case <-broken:
			why, broken, asked = load.EndedBroken, nil, c.machines
		case <-failed:
			why, failed, asked = load.EndedFailed, nil, c.machines
		}
		if why == "" || len(asked) == 0 {
			continue
		}
		ending()
		asked = failing(asked, func(m *machine) error { return m.stop(context.WithoutCancel(ctx), number, why) })
	}
}

// failing calls f for machines at once, and returns those for which it fails.
func failing(all []*machine, f func(*machine) error) (left []*machine) {
	for i, err := range each(all, func(_ int, m *machine) error { return f(m) }) {
		if err != nil {
			left = append(left, all[i])
		}
	}
	return left
}

// anyOver reports whether the clients of a run end on a machine.
func (c *Coordinator) anyOver(number int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.machines, func(m *machine) bool { return m.last.Run == number && (m.last.Over || m.last.Ended) })
}

// saySilent says once of each machine that it is silent, and that it is back.
func (c *Coordinator) saySilent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.machines {
		if is := m.isSilent(); is != m.silent {
			m.silent = is
			c.config.Say("%v %s", m, map[bool]string{true: "is silent", false: "is back"}[is])
		}
	}
}

// progress adds up the progress of the agents.
func (c *Coordinator) progress(p *load.Progress, number int, at int64) {
	if p == nil {
		return
	}
	var grants, refused, failed, length int64
	c.mu.Lock()
	for _, m := range c.machines {
		if b := m.last; b.Run == number {
			grants, refused, failed, length = grants+b.Grants, refused+b.Refused, failed+b.Failed, max(length, b.Length)
		}
	}
	c.mu.Unlock()
	p.Grants.Store(grants)
	p.Refused.Store(refused)
	p.Failed.Store(failed)
	p.Duration.Store(length)
	if begins := c.began.Add(time.Duration(at)); time.Now().After(begins) {
		p.Started.Store(begins.UnixNano())
	}
}

// Close ends the agents and the private server. A second call does nothing.
func (c *Coordinator) Close() error { return c.End(nil) }

// End is like Close, and tells the agents why; nil is the end of all runs. It does nothing to a nil Coordinator.
func (c *Coordinator) End(why error) (err error) {
	if c == nil {
		return nil
	}
	c.ending.Do(func() {
		if why == nil {
			err = c.end("")
		} else {
			err = c.end(why.Error())
		}
	})
	return err
}

func (c *Coordinator) end(why string) (err error) {
	if c.conn != nil {
		c.mu.Lock()
		come := slices.DeleteFunc(slices.Clone(c.machines), func(m *machine) bool { return m == nil })
		c.mu.Unlock()
		each(come, func(_ int, m *machine) error { return m.leave(why) })
		c.conn.Close()
	}
	if c.probed != nil {
		c.probed.Close()
	}
	err = c.tunnel.close()
	if c.door != nil {
		err = errors.Join(err, c.door.Close())
	}
	return err
}
