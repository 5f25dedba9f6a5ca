package main

import (
	"slices"

	"github.com/lockbench/lockbench/servers"
)

// leaveOut leaves out the designs that cannot run on these servers, where a pattern
// chose them and something is left; one that was named is an error.
func (s *session) leaveOut() error {
	if s.servers.First().Kind() != servers.Embedded || len(s.patterns) == 0 {
		return nil
	}
	var fit, unfit []subject
	for _, of := range s.subjects {
		switch err := of.OnEmbedded(); {
		case err == nil:
			fit = append(fit, of)
		case slices.Contains(s.patterns, of.Name):
			return err
		default:
			unfit = append(unfit, of)
		}
	}
	if len(fit) == 0 {
		return unfit[0].OnEmbedded()
	}
	for _, of := range unfit {
		s.progress.say("left out: %v", of.OnEmbedded())
	}
	s.subjects = fit
	return nil
}
