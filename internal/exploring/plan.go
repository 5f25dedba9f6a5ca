package exploring

import (
	"slices"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan says what to explore.
type Plan struct {
	Designs   []design.Design
	Scenarios []workloads.Program
	// Named: the user chose the scenarios, and is told which of them do not apply.
	Named bool
	// Config has the settings for each design. Its scenarios share budget and
	// schedules.
	Config explore.Config
}

// Choose finds the scenarios with those names; without names all, except those that
// run only on request.
func (p *Plan) Choose(names []string) error {
	p.Named = len(names) > 0
	for _, name := range names {
		s, err := workloads.Find(workloads.Explored, name)
		if err != nil {
			return err
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	if !p.Named {
		p.Scenarios = slices.DeleteFunc(workloads.By(workloads.Explored), func(p workloads.Program) bool { return p.Exploration.OnRequest })
	}
	return nil
}

// Designs finds the designs with those names, lockbench's own if there are none. It
// leaves out designs of a glob that cannot be explored, as long as one remains.
func Designs(names []string) ([]design.Design, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(impls.Documented(), func(d design.Design) bool { return d.Explorable() != nil }), nil
	}
	named, err := impls.Match(names...)
	if err != nil {
		return nil, err
	}
	var found []design.Design
	for _, d := range named {
		why := d.Explorable()
		if why == nil {
			found = append(found, d)
		}
		if why != nil && slices.Contains(names, d.Name) {
			return nil, why
		}
	}
	if len(found) == 0 {
		return nil, named[0].Explorable()
	}
	return found, nil
}

// FindDesign returns the design with that name, which may be the one that is broken
// on purpose.
func FindDesign(name string) (design.Design, error) {
	if name == mutants.SelfCheckName {
		return mutants.SelfCheck("plain-del"), nil
	}
	found, err := impls.Match(name)
	if err != nil {
		return design.Design{}, err
	}
	return found[0], nil
}
