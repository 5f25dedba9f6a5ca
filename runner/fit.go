package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// leaveOut removes a subject from the plan if fails returns an error for it and the subject is
// optional. It returns the error of a subject that is not optional, and an error if no subject is
// left, or controls alone of a plan with locks.
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
	left := leftOut(unfit, fails)
	if lock := (func(of Subject) bool { return of.Design.Control == "" }); len(fit) == 0 || slices.ContainsFunc(unfit, lock) && !slices.ContainsFunc(fit, lock) {
		return errors.New(left[0])
	}
	for _, text := range left {
		s.sink.say("left out: %s", text)
	}
	s.plan.Subjects = fit
	return nil
}

// leftOut returns the reasons why subjects are left out, one for all designs with the same reason.
func leftOut(unfit []Subject, fails func(*Subject) error) (all []string) {
	var reasons []string
	named := map[string][]string{}
	for i := range unfit {
		text := fails(&unfit[i]).Error()
		name := "design " + unfit[i].Design.Name + ": "
		reason, begins := strings.CutPrefix(text, name)
		if !begins {
			reason = text
		}
		if named[reason] == nil {
			reasons = append(reasons, reason)
		}
		beside := unfit[i].Design.Control != "" && len(named[reason]) > 0 // what it lacks is said of the locks
		if begins && !beside && !slices.Contains(named[reason], unfit[i].Design.Name) {
			named[reason] = append(named[reason], unfit[i].Design.Name)
		}
	}
	for _, reason := range reasons {
		if names := named[reason]; len(names) > 0 {
			reason = "design " + strings.Join(names, ", ") + ": " + reason
		}
		all = append(all, reason)
	}
	return all
}

// notInstalled returns an error if the design stands on a service that is to be started, and whose
// programs are missing.
func (s *session) notInstalled(of *Subject) error {
	b := servers.BackendOf(&of.Design)
	installed, is := b.(design.Installed)
	if !is || slices.ContainsFunc(s.plan.Servers, b.Serves) {
		return nil
	}
	if err := installed.Missing(); err != nil {
		return fmt.Errorf("design %s: %w", of.Design.Name, err)
	}
	return nil
}

// cannotLease returns an error if the design cannot give the requested lease.
func (s *session) cannotLease(of *Subject) error { return of.Design.CanLease(s.plan.Options.TTL) }

// permits returns a function that returns an error if the user of the server may not run the
// commands of a design, or the commands of its guarded records. It asks the server once per design
// and guard.
func (s *session) permits(ctx context.Context) func(*Subject) error {
	known := map[string]error{}
	return func(of *Subject) error {
		name := of.Design.Name + " +" + string(of.Guard)
		err, asked := known[name]
		if !asked {
			err = s.permitted(ctx, of)
			known[name] = err
		}
		return err
	}
}

func (s *session) permitted(ctx context.Context, of *Subject) error {
	d := &of.Design
	on := s.services.of(d)
	if err := on.For(d.ServerCount()).Check(ctx, d.Commands); err != nil {
		return fmt.Errorf("design %s: %w", d.Name, err)
	}
	if server, is := on.First().(*servers.Server); is && s.recordsBeside(on) == nil {
		if err := server.Check(ctx, servers.StoreCommands(of.options(s.plan.Options).Guard)); err != nil {
			return fmt.Errorf("the records that locks guard, beside design %s: %w", d.Name, err)
		}
	}
	return nil
}

// sayLost reports the features of lockbench that the servers do not permit. The runs are made
// without them.
func (s *session) sayLost(ctx context.Context) {
	if g := s.services[servers.Redis{}.Name()]; s.plan.SelfCheck && g != nil {
		if err := g.For(1).Check(ctx, mutants.SelfCheck(proofs()[0].mutant).Commands); err != nil {
			s.sink.say("note: the self-check will fail, so that what holds counts as untested: %v", err)
		}
	}
	for _, g := range s.services {
		for _, server := range servers.All(g) {
			for _, lost := range server.Lost(ctx) {
				s.sink.say("note: %s: %s", server.Address(), lost)
			}
		}
	}
}

// cannotBeFaulted returns an error if a fault of the plan cannot act on the services of the design.
func (s *session) cannotBeFaulted(of *Subject) error {
	return inject.Check(s.faults, s.services.of(&of.Design))
}

// sayLease reports a design that rounds the requested lease up.
func (s *session) sayLease(of *Subject) {
	ttl := of.options(s.plan.Options).TTL
	if given := of.Design.Lease(ttl); given > ttl {
		s.sink.say("%s: leases of %v are rounded up to %v", of.Label(), ttl, given)
	}
}
