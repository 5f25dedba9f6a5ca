package faults

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/servers"
)

// longestSilence is how long a server may answer nobody at most: clients wait 5 s
// for a reply, and what they then give up could act at any later time.
const longestSilence = 4 * time.Second

// Check returns why faults cannot be done in a run on these servers, before anything
// starts: one that would harm a server that lockbench did not start, or a fault that
// needs a process of the server's own. It is nil when they can.
func Check(all []Fault, on []*servers.Server) error {
	seen := map[Kind]bool{}
	for _, f := range all {
		t, err := find(string(f.Kind))
		switch {
		case err != nil:
			return err
		case seen[f.Kind]:
			return fmt.Errorf("fault %s is asked for twice; hint: once, with one schedule", f.Kind)
		}
		seen[f.Kind] = true
		if err := f.check(t); err != nil {
			return fmt.Errorf("fault %s %w", f.Kind, err)
		}
		if err := t.checkServer(on[0]); err != nil {
			return fmt.Errorf("fault %s %w", f.Kind, err)
		}
		if err := checkClock(f.Kind); err != nil {
			return fmt.Errorf("fault %s: %w", f.Kind, err)
		}
		if (f.Kind == Down || f.Kind == ClockStep) && f.N > len(on) {
			return fmt.Errorf("fault %s affects %d servers, there are %d; hint: n=%d, or a design that locks on more", f.Kind, f.N, len(on), len(on))
		}
	}
	if seen[ClockStep] && seen[Failover] {
		return fmt.Errorf("fault %s cannot be had with %s, whose replica goes by the right time; hint: one run for each", ClockStep, Failover)
	}
	return nil
}

// checkClock returns why the clocks of servers cannot be stepped, where k would do so.
func checkClock(k Kind) error {
	if k != ClockStep {
		return nil
	}
	return servers.FindClock()
}

// check reports what is wrong with the settings of f.
func (f Fault) check(t *trait) error {
	switch {
	case t.target == ofClient && f.P == 0 && f.Every == 0 && f.At == 0:
		return errors.New("would never occur; hint: p=0.01, or at=2s")
	case (f.Kind == ServerPause || f.Kind == BlackHole) && f.For > longestSilence:
		return fmt.Errorf("lasts %v, longer than clients wait for a reply; hint: for=%v at most", f.For, longestSilence)
	}
	return nil
}

// checkServer returns why the kind cannot be done on s.
func (t *trait) checkServer(s *servers.Server) error {
	kind := s.Kind()
	switch {
	case t.owned == tcpServer && (kind == design.Embedded || kind == design.External && !s.PlainTCP()):
		return errors.New("needs a server reached by TCP, without TLS; hint: leave --redis out, and have redis-server in PATH")
	case t.owned != anyServer && t.owned != tcpServer && kind == design.External:
		return errors.New("would harm a server that lockbench did not start; hint: leave --redis out, and a private server is used")
	case t.owned == ownProcess && kind == design.Embedded:
		return errors.New("needs a server process, and the embedded server is none; hint: install redis-server")
	}
	return nil
}
