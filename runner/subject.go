package runner

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// A Subject is the subject of one run: a design, the guard of the store, and changes for
// this run alone.
type Subject struct {
	Design design.Design
	// Guard is the guard of the store; empty is the one of the plan's options.
	Guard lockbench.Guard
	// Variant distinguishes the subject from others of the same design and guard; empty for
	// none.
	Variant string
	// Change changes the options of the plan for this run; nil leaves them.
	Change func(*workloads.Options)
	// Optional subjects are left out if the design cannot run on these servers or cannot
	// give this lease, as long as another subject is left. Otherwise that is an error.
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

// options are the plan's options, changed for the subject.
func (s *Subject) options(o workloads.Options) workloads.Options {
	if s.Guard != "" {
		o.Guard = s.Guard
	}
	if s.Change != nil {
		s.Change(&o)
	}
	return o
}
