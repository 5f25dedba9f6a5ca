package main

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/workloads"
)

// A subject is one row of the result: a design, and the guard of the store it runs with.
type subject struct {
	design.Design
	guard lockbench.Guard
	round round
	// variant tells it from others of the same design, whose options change does not
	// change alike; empty and nil for none.
	variant string
	change  func(*workloads.Options)
}

// label names the subject, and the file of its history.
func (s subject) label() string {
	name := s.Name
	if s.guard != "" && s.guard != lockbench.NoGuard {
		name += " +" + string(s.guard)
	}
	if s.round.number > 0 {
		name += " " + s.round.String()
	}
	if s.variant != "" {
		name += " " + s.variant
	}
	return name
}

// subjects are the designs with each of the guards, those that hand out no fences not
// with the guard that needs them; an error, when only such are named.
func (o *runOptions) subjects(designs []design.Design) ([]subject, error) {
	guards := o.guards
	if len(guards) == 0 {
		guards = []string{""}
	}
	var all []subject
	for _, d := range designs {
		for _, name := range guards {
			if g := lockbench.Guard(name); g != lockbench.FenceGuard || d.Fences {
				all = append(all, subject{Design: d, guard: g})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("guard %s: none of these designs hands out fences; hint: lua-token/fenced does, and guard %s needs none", lockbench.FenceGuard, lockbench.CompareGuard)
	}
	return all, nil
}

// A plan is what a run will do, checked before anything starts.
type plan struct {
	subjects []subject
	workload workloads.Workload
	options  workloads.Options
	faults   []faults.Fault
	// patterns are what the designs were chosen by; empty where nobody chose.
	patterns []string
}

func (o *runOptions) plan() (p plan, err error) {
	p.options, p.patterns = o.params, o.designs
	designs := impls.Documented()
	if len(o.designs) > 0 {
		if designs, err = impls.Match(o.designs...); err != nil {
			return p, err
		}
	}
	for i, d := range designs {
		if designs[i], err = o.claims.design(d); err != nil {
			return p, err
		}
	}
	if p.subjects, err = o.subjects(designs); err != nil {
		return p, err
	}
	if p.workload, err = workloads.Find(o.workload); err != nil {
		return p, err
	}
	for _, s := range p.subjects {
		p.options.Guard = s.guard
		if _, err = p.workload.Options(p.options); err != nil {
			return p, fmt.Errorf("workload %s: %w", p.workload.Name, err)
		}
	}
	p.faults, err = faults.ParseAll(o.faults)
	return p, err
}

func designNames(subjects []subject) []string {
	var designs []design.Design
	for _, s := range subjects {
		designs = append(designs, s.Design)
	}
	return slices.Compact(namesOf(designs))
}

func namesOf(designs []design.Design) (names []string) {
	for _, d := range designs {
		names = append(names, d.Name)
	}
	return names
}
