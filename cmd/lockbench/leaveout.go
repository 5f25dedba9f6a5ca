package main

import (
	"slices"

	"github.com/lockbench/lockbench/internal/servers"
)

// leaveOut leaves out the designs that fail for a reason, where a pattern chose them and
// something is left; one that was named is an error.
func (s *session) leaveOut(fails func(subject) error) error {
	var fit, unfit []subject
	for _, of := range s.subjects {
		switch err := fails(of); {
		case err == nil:
			fit = append(fit, of)
		case slices.Contains(s.patterns, of.Name):
			return err
		default:
			unfit = append(unfit, of)
		}
	}
	if len(fit) == 0 {
		return fails(unfit[0])
	}
	for _, of := range unfit {
		s.progress.say("left out: %v", fails(of))
	}
	s.subjects = fit
	return nil
}

// offGrid tells why a design cannot give the lease that is asked for.
func (s *session) offGrid(of subject) error { return of.CanLease(s.options.TTL) }

// offServer tells why a design cannot run on the server that there is.
func (s *session) offServer(of subject) error {
	if s.servers.First().Kind() != servers.Embedded {
		return nil
	}
	return of.OnEmbedded()
}

// sayLease says where a design gives a longer lease than is asked for.
func (s *session) sayLease(of subject) {
	ttl := s.optionsOf(of).TTL
	if given := of.Lease(ttl); given > ttl {
		s.progress.say("%s: leases of %v are rounded up to %v", of.label(), ttl, given)
	}
}
