package runner

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/inject"
)

// leaveOut leaves out the optional subjects of which fails returns an error, as long as
// something is left.
func (s *session) leaveOut(fails func(*Subject) error) error {
	var fit, unfit []Subject
	for _, of := range s.plan.Subjects {
		switch err := fails(&of); {
		case err == nil:
			fit = append(fit, of)
		case !of.Optional:
			return err
		default:
			unfit = append(unfit, of)
		}
	}
	if len(fit) == 0 {
		return fails(&unfit[0])
	}
	for i := range unfit {
		s.sink.say("left out: %v", fails(&unfit[i]))
	}
	s.plan.Subjects = fit
	return nil
}

// cannotLease says why a design cannot give the lease that is asked for.
func (s *session) cannotLease(of *Subject) error { return of.Design.CanLease(s.plan.Options.TTL) }

// cannotUseServices returns why a design cannot run on the services that there are.
func (s *session) cannotUseServices(ctx context.Context) func(*Subject) error {
	return func(of *Subject) error {
		if err := s.services.of(&of.Design).Check(ctx, of.Design.Commands); err != nil {
			return fmt.Errorf("design %s: %w", of.Design.Name, err)
		}
		return nil
	}
}

// cannotBeFaulted says why a fault of the plan cannot be done to what a design stands on.
func (s *session) cannotBeFaulted(of *Subject) error {
	return inject.Check(s.faults, s.services.of(&of.Design))
}

// sayLease says where a design gives a longer lease than is asked for.
func (s *session) sayLease(of *Subject) {
	ttl := of.options(s.plan.Options).TTL
	if given := of.Design.Lease(ttl); given > ttl {
		s.sink.say("%s: leases of %v are rounded up to %v", of.Label(), ttl, given)
	}
}
