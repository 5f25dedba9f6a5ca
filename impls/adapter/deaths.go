package adapter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The probes of processes that are stopped or killed.

// leftOr returns an owner that the probe before has left, one in a new process if it left none.
func (c *checkup) leftOr(l *locker) (*locker, error) {
	if l != nil {
		return l, nil
	}
	return c.open("")
}

func (c *checkup) stopped() error {
	l, err := c.leftOr(c.spared)
	if err != nil {
		return err
	}
	if err := l.Suspend(); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		_, err := l.call(c.ctx, request{Op: opNoop})
		answered <- err
	}()
	const moment = 100 * time.Millisecond
	select {
	case <-answered:
		err = errors.New("it answered while its group of processes was stopped; hint: the adapter runs elsewhere, so that faults cannot affect it")
	case <-time.After(moment):
	}
	if err := errors.Join(err, l.Resume()); err != nil {
		return err
	}
	if err := <-answered; err != nil {
		return fmt.Errorf("after it went on: %w", err)
	}
	return l.program.end()
}

func (c *checkup) killed() error {
	l, err := c.leftOr(c.waited)
	if err != nil {
		return err
	}
	if _, err := c.acquire(l, "killed"); err != nil {
		return err
	}
	if err := l.Kill(); err != nil {
		return err
	}
	_, err = c.granted(c.b, "killed", c.lease, time.Now(), true)
	return err
}

// killedInAcquire kills a process when the first command of its acquire has been answered, another one
// when the second has, and so on until an acquire is answered before that.
func (c *checkup) killedInAcquire() error { return c.killedFrom(1) }

// killedFrom kills processes from a command on, two at the same time: an acquire has at least one command.
// The next two start while the keys of these become free.
func (c *checkup) killedFrom(first int) error {
	const most, pair = 8, 2
	var freed [pair]func() error
	err := sideBySide(pair, func(i int) (err error) {
		freed[i], err = c.killedAt(first + i)
		return err
	})
	if err != nil {
		return err
	}
	return sideBySide(pair+1, func(i int) error {
		switch {
		case i < pair:
			return freed[i]()
		case c.spared == nil && first+pair <= most:
			return c.killedFrom(first + pair)
		}
		return nil
	})
}

// killedAt kills a process when a command of its acquire has been answered, and returns a function that
// waits until its key is free. A process whose acquire was answered before that is spared.
func (c *checkup) killedAt(command int) (freed func() error, err error) {
	none := func() error { return nil }
	gate := &deadly{after: command}
	env := c.env
	env.Interceptor = gate
	l, err := c.start(c.command, env)
	if err != nil {
		return none, err
	}
	key := fmt.Sprintf("killed-in-acquire-%d", command)
	gate.arm(l.Kill)
	from := time.Now()
	_, err = c.acquire(l, key)
	last := gate.disarm()
	switch {
	case last == "": // it has fewer commands
		c.mu.Lock()
		defer c.mu.Unlock()
		c.spared = l
		return none, nil
	case err == nil:
		return none, nil // it did not wait for this reply, as that to a heartbeat
	}
	return func() error {
		if _, err := c.granted(c.b, key, c.lease, from, true); err != nil {
			return fmt.Errorf("killed when command %d of its acquire, %s, was answered: %w", command, last, err)
		}
		return nil
	}, nil
}

// A deadly gate kills the process when the reply to one of its requests has come.
type deadly struct {
	after int // number of the request

	mu   sync.Mutex
	kill func() error // nil until the requests count
	seen int
	name string // of the command that was its last
}

// arm lets requests count from now on.
func (d *deadly) arm(kill func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill = kill
}

// disarm lets no more requests count, and returns the name of the command after which the process was
// killed; empty if it was not.
func (d *deadly) disarm() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kill = nil
	return d.name
}

// Pass implements [design.Interceptor].
func (d *deadly) Pass(ctx context.Context, send func(context.Context) error) error { return send(ctx) }

// Request implements [design.Gate].
func (d *deadly) Request(name string) (send bool, lost func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kill == nil || d.name != "" {
		return true, nil
	}
	if d.seen++; d.seen < d.after {
		return true, nil
	}
	d.name = name
	kill := d.kill
	return true, func() { _ = kill() } // it may have ended
}
