package inject

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Check returns the reason why faults cannot be injected in a run on these services: one
// would harm a service that lockbench did not start, or needs a property that the service
// lacks. It is nil if all can. Nothing need be started yet.
func Check(all []fault.Fault, on []design.Service) error {
	if err := fault.Check(all, len(on)); err != nil {
		return err
	}
	for _, f := range all {
		if err := checkService(fault.Of(f.Kind).Live.Needs, on[0]); err != nil {
			return fmt.Errorf("fault %s %w", f.Kind, err)
		}
	}
	return nil
}

// Possible reports whether a fault can be injected into the services of a design, if
// lockbench starts them.
func Possible(k fault.Kind, d *design.Design) bool {
	row := fault.Of(k)
	return row.Live != nil && abilities(row.Live.Needs, servers.BackendOf(d).Offers()) == nil
}

// checkService returns the reason why s does not meet the needs of a fault.
func checkService(needs fault.Needs, s design.Service) error {
	if err := abilities(needs, s); err != nil {
		return err
	}
	kind := s.Kind()
	switch {
	case needs.Has(fault.TCP) && (kind == design.Embedded || kind == design.External && !plainTCP(s)):
		return errors.New("needs a server reached by TCP at an address of its own, without TLS, Sentinel and Cluster; hint: leave --server out, and have redis-server in PATH")
	case needs.Has(fault.Ours) && kind == design.External:
		return errors.New("would harm a server that lockbench did not start; hint: leave --server out, and a private server is used")
	case needs&(fault.OwnProcess|fault.Restarts|fault.Keeps|fault.Suspends) != 0 && kind == design.Embedded:
		return errors.New("needs a server process, and the embedded server is none; hint: install redis-server")
	case needs.Has(fault.OwnClock):
		if err := servers.FindClock(); err != nil {
			return fmt.Errorf("cannot be done: %w", err)
		}
	}
	return nil
}

func plainTCP(s design.Service) bool {
	if networked, is := s.(design.Networked); is {
		return networked.Endpoint() != ""
	}
	server, is := s.(*servers.Server)
	return is && server.PlainTCP()
}

// abilities returns the reason why the type of s, open or not, does not meet the needs of a
// fault.
func abilities(needs fault.Needs, s design.Service) error {
	_, isRedis := s.(*servers.Server)
	_, restarts := s.(design.Restarter)
	_, durable := s.(design.Durable)
	_, suspends := s.(design.Suspender)
	_, sessions := s.(design.SessionEnder)
	_, elects := s.(design.Elector)
	_, replicates := s.(design.Replicator)
	_, replies := s.(design.Remote)
	_, networked := s.(design.Networked)
	switch {
	case needs.Has(fault.Redis) && !isRedis:
		return fmt.Errorf("needs a Redis server, which %s is not; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Restarts) && !restarts:
		return fmt.Errorf("needs a server that can be restarted, which %s cannot; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Restarts) && durable:
		return fmt.Errorf("needs a server that forgets by a restart, and %s keeps all; hint: restart-aof", s.Version())
	case needs.Has(fault.Keeps) && !isRedis && !durable:
		return fmt.Errorf("needs a server that keeps all through a restart, which %s does not; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Suspends) && !suspends:
		return fmt.Errorf("needs a server that can stand still, which %s cannot; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Sessions) && !sessions:
		return fmt.Errorf("needs a server that can end the sessions of its clients, which %s cannot; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Replicates) && !replicates:
		return fmt.Errorf("needs a server of which lockbench can start a replica, which %s is not; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Elects) && !elects:
		return fmt.Errorf("needs a server with members that elect a leader, which %s is not; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.TCP) && !isRedis && !networked:
		return fmt.Errorf("needs a server reached by TCP, which %s is not; hint: another fault, see lockbench list faults", s.Version())
	case needs.Has(fault.Replies) && !replies:
		return fmt.Errorf("needs a server that replies over connections, which %s does not; hint: another fault, see lockbench list faults", s.Version())
	}
	return nil
}
