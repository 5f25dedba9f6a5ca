package runner

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// A Subject is the subject of one run: a design, the guard of the store, and changes of the options
// for this run.
type Subject struct {
	Design design.Design
	// Guard is the guard of the store; if it is empty the plan's options decide.
	Guard lockbench.Guard
	// Variant distinguishes the subject from others of the same design and guard; empty for
	// none.
	Variant string
	// Change changes the options of the plan for this run; nil leaves them.
	Change func(*workloads.Options)
	// Optional makes the run leave out the subject, rather than fail, if the design cannot run on
	// these servers or cannot give the requested lease. It is an error if no subject is left,
	// or no lock of several.
	Optional bool
}

// Label returns the name of the subject: its design, with guard and variant if there are any. The
// file of its history has the same name.
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

// options returns the plan's options o, changed for the subject.
func (s *Subject) options(o workloads.Options) workloads.Options {
	if s.Guard != "" {
		o.Guard = s.Guard
	}
	if s.Change != nil {
		s.Change(&o)
	}
	return o
}
