package runner

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// A Subject is what one run is of: a design, the guard of the store it runs with, and what
// is changed for this run alone.
type Subject struct {
	Design design.Design
	// Guard is that of the store; empty is that of the plan's options.
	Guard lockbench.Guard
	// Variant distinguishes it from others of the same design and guard; empty for none.
	Variant string
	// Change changes the options of the plan for this run; nil leaves them.
	Change func(*workloads.Options)
	// Optional: where the design cannot be run on these servers, or cannot give this lease,
	// it is left out, as long as another is left. Else that is an error.
	Optional bool
}

// Label names the subject, and the file of its history.
func (s *Subject) Label() string {
	name := s.Design.Name
	if s.Guard != "" && s.Guard != lockbench.NoGuard {
		name += " +" + string(s.Guard)
	}
	if s.Variant != "" {
		name += " " + s.Variant
	}
	return name
}

// options are those of the plan as they are for the subject.
func (s *Subject) options(o workloads.Options) workloads.Options {
	if s.Guard != "" {
		o.Guard = s.Guard
	}
	if s.Change != nil {
		s.Change(&o)
	}
	return o
}
