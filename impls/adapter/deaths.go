package adapter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The probes of processes that are stopped or killed.

func (c *checkup) stopped() error {
	l, err := c.open("")
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
	l, err := c.open("")
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
// when the second has, and so on until an acquire is answered before that. It asks two at the same time:
// an acquire has at least one command.
func (c *checkup) killedInAcquire() error {
	const most, pair = 8, 2
	for n := 0; n < most; n += pair {
		var survived [pair]bool
		err := sideBySide(pair, func(i int) (err error) {
			survived[i], err = c.killedAt(n + i + 1)
			return err
		})
		if err != nil || survived[0] || survived[1] {
			return err
		}
	}
	return nil
}

// killedAt kills a process when a command of its acquire has been answered, and waits until its key is
// free. It reports whether the acquire was answered before that.
func (c *checkup) killedAt(command int) (survived bool, err error) {
	gate := &deadly{after: command}
	env := c.env
	env.Interceptor = gate
	l, err := c.start(c.command, env)
	if err != nil {
		return false, err
	}
	key := fmt.Sprintf("killed-in-acquire-%d", command)
	gate.arm(l.Kill)
	from := time.Now()
	_, err = c.acquire(l, key)
	switch {
	case gate.last() == "":
		return true, nil // it has fewer commands
	case err == nil:
		return false, nil // it did not wait for this reply, as that to a heartbeat
	}
	if _, err := c.granted(c.b, key, c.lease, from, true); err != nil {
		return false, fmt.Errorf("killed when command %d of its acquire, %s, was answered: %w", command, gate.last(), err)
	}
	return false, nil
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

// last returns the name of the command after which the process was killed; empty if it was not.
func (d *deadly) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
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
	return true, func() { _ = d.kill() } // it may have ended
}
