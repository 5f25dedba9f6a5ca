package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// A Probe is one question to an adapter, with its outcome.
type Probe struct {
	Name string
	// Err is why the adapter failed it, nil if it passed. Skipped is why the question was not asked,
	// empty if it was.
	Err     error
	Skipped string
}

// An Opener opens a service for an adapter, which nobody else uses, and returns the environment of the
// adapter's processes. The backend is nil for Redis.
type Opener func(design.Backend) (design.Environment, error)

// shortest is the lease that probes request, or the unit of leases if that is longer.
const shortest = 300 * time.Millisecond

// breakVariable makes an adapter break its lock on purpose.
const breakVariable = "LOCKBENCH_BREAK"

// Check asks an adapter, by the command of a user, all questions: does it speak the protocol, and does
// its lock work, as far as a short look tells. The error is why nothing could be asked.
func Check(ctx context.Context, command string, on Opener) (hello Hello, all []Probe, err error) {
	hello, backend, err := describe(ctx, command)
	if err != nil {
		return hello, []Probe{{Name: "hello", Err: err}}, nil
	}
	env, err := on(backend)
	if err != nil {
		return hello, nil, err
	}
	c := &checkup{ctx: ctx, command: command, hello: hello, env: env, lease: hello.granted(shortest)}
	defer c.close()
	if err := c.begin(); err != nil {
		return hello, []Probe{{Name: "hello", Err: err}}, nil
	}
	all = append(all, Probe{Name: "hello"})
	found := c.askAll()
	if ends := c.ends(); len(ends) > 0 {
		all = append(all, Probe{Name: "it goes on running", Err: ends[0]})
		for i, p := range found {
			if p.Err == nil || slices.ContainsFunc(ends, func(end error) bool { return errors.Is(p.Err, end) }) {
				found[i].Err, found[i].Skipped = nil, cmp.Or(p.Skipped, "it has ended")
			}
		}
	}
	return hello, append(all, found...), nil
}

// askAll asks all probes, until a process that they share has ended.
func (c *checkup) askAll() []Probe {
	var rows [][]int // numbers of probes: rows are asked side by side, the probes of each in order
	var last []int
	found := make([]Probe, len(probes))
	ask := func(i int) {
		var why notAsked
		if err := probes[i].ask(c); errors.As(err, &why) {
			found[i].Skipped = string(why)
		} else {
			found[i].Err = err
		}
	}
	for i, p := range probes {
		found[i] = Probe{Name: p.name, Skipped: p.skipped(&c.hello)}
		if !p.follows {
			rows = append(rows, nil)
		}
		switch {
		case found[i].Skipped != "" || len(c.ends()) > 0:
		case p.first:
			ask(i)
		case p.last:
			last = append(last, i)
		default:
			rows[len(rows)-1] = append(rows[len(rows)-1], i)
		}
	}
	_ = sideBySide(len(rows), func(n int) error {
		for _, i := range rows[n] {
			ask(i)
		}
		return nil
	})
	for _, i := range last {
		ask(i)
	}
	return found
}

// A notAsked is the reason why a probe could not be asked, after another one had failed.
type notAsked string

func (n notAsked) Error() string { return string(n) }

// skipped returns why a probe is not asked of an adapter, empty if it is.
func (p *probe) skipped(hello *Hello) string {
	switch {
	case p.needs != "" && !hello.has(p.needs):
		return fmt.Sprintf("its hello does not say %s", p.needs)
	case p.unless != nil:
		return p.unless(hello)
	}
	return ""
}

// A checkup is the state of a check.
type checkup struct {
	ctx     context.Context
	command string
	hello   Hello
	env     design.Environment
	lease   time.Duration // that probes request
	a, b    *locker       // owners in two processes that all probes share
	cut     *locker       // an owner in the process that is cut off, which takes longest
	waited  *locker       // an owner in a process that has waited, for the probe that follows; nil if there is none
	spared  *locker       // an owner in a process that was not killed in acquire, as well
	// overtaken is a hold of a whose lease is over, and overtaker that of b on its key; zero if there are none.
	overtaken, overtaker int64

	mu      sync.Mutex
	started []*process
	lie     error // the first stamps that are impossible
}

// begin starts the processes that probes share, and the one that is cut off.
func (c *checkup) begin() error {
	to := []**locker{&c.a, &c.b, &c.cut}
	return sideBySide(len(to), func(i int) (err error) {
		*to[i], err = c.open("")
		return err
	})
}

// ends returns why processes that probes share are of no use, none if they are.
func (c *checkup) ends() (why []error) {
	for _, l := range []*locker{c.a, c.b} {
		select {
		case <-l.Done():
			why = append(why, l.Err())
		default:
		}
	}
	return why
}

// open starts a process, and returns an owner in it. breaking is the value of LOCKBENCH_BREAK, empty for
// none.
func (c *checkup) open(breaking string) (*locker, error) {
	command := c.command
	if breaking != "" {
		command = breakVariable + "=" + breaking + "; export " + breakVariable + "; " + command
	}
	return c.start(command, c.env)
}

// start starts a process by a command, in an environment, and returns an owner in it.
func (c *checkup) start(command string, env design.Environment) (*locker, error) {
	p, err := open(command, c.hello, Settings{}, env)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.started = append(c.started, p)
	c.mu.Unlock()
	l := p.Locker(design.Blind).(*locker)
	if err := p.Ready(c.ctx); err != nil {
		return l, err
	}
	if unstamped(&c.hello) == "" {
		c.lied(p.setClock())
		p.lied = c.lied
	}
	return l, nil
}

// lied notes why stamps are impossible, nil if they are not.
func (c *checkup) lied(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lie = cmp.Or(c.lie, why)
}

// close ends all processes, of which a JVM takes 0.3 s.
func (c *checkup) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = sideBySide(len(c.started), func(i int) error { return c.started[i].Close() }) // its end is a probe of its own
}

// sideBySide calls f for each number below n at the same time, and returns the first error by number.
func sideBySide(n int, f func(i int) error) error {
	failed := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { failed[i] = f(i) })
	}
	running.Wait()
	return cmp.Or(failed...)
}

// acquire asks once for a key, for the lease of the check.
func (c *checkup) acquire(l *locker, key string) (*grant, error) {
	return c.acquireFor(l, key, c.lease)
}

func (c *checkup) acquireFor(l *locker, key string, ttl time.Duration) (*grant, error) {
	got, err := l.call(c.ctx, request{Op: opAcquire, Key: c.env.Prefix + key, TTLMS: millis(ttl)})
	if err != nil {
		return nil, fmt.Errorf("acquire of %.40q: %w", key, err)
	}
	return got, nil
}

// on makes a request about a hold.
func (c *checkup) on(l *locker, what op, key string, hold int64, ttl time.Duration) (*grant, error) {
	return l.call(c.ctx, request{Op: what, Key: c.env.Prefix + key, Hold: hold, TTLMS: millis(ttl)})
}

// want returns an error unless err is the wanted one; nil is success.
func want(what string, err, wanted error) error {
	switch {
	case wanted == nil && err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case err == nil && wanted != nil:
		return fmt.Errorf("%s: answered ok, want %w", what, wanted)
	case !errors.Is(err, wanted):
		return fmt.Errorf("%s: %w; want %w", what, err, wanted)
	}
	return nil
}
