package faults

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/servers"
)

// Check returns why faults cannot be done in a run on these servers, before anything
// starts: one that would harm a server that lockbench did not start, or a fault that
// needs a process of the server's own. It is nil when they can.
func Check(all []fault.Fault, on []*servers.Server) error {
	if err := fault.Check(all, len(on)); err != nil {
		return err
	}
	for _, f := range all {
		if err := checkServer(fault.Of(f.Kind).Live.Needs, on[0]); err != nil {
			return fmt.Errorf("fault %s %w", f.Kind, err)
		}
	}
	return nil
}

// checkServer returns why s has not what a fault needs of it.
func checkServer(needs fault.Needs, s *servers.Server) error {
	kind := s.Kind()
	switch {
	case needs.Has(fault.TCP) && (kind == design.Embedded || kind == design.External && !s.PlainTCP()):
		return errors.New("needs a server reached by TCP, without TLS; hint: leave --redis out, and have redis-server in PATH")
	case needs.Has(fault.Ours) && kind == design.External:
		return errors.New("would harm a server that lockbench did not start; hint: leave --redis out, and a private server is used")
	case needs.Has(fault.OwnProcess) && kind == design.Embedded:
		return errors.New("needs a server process, and the embedded server is none; hint: install redis-server")
	case needs.Has(fault.OwnClock):
		if err := servers.FindClock(); err != nil {
			return fmt.Errorf("cannot be done: %w", err)
		}
	}
	return nil
}
