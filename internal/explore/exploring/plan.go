package exploring

import (
	"runtime"
	"slices"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/commands"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/workloads"
)

// A Plan describes explorations of several designs.
type Plan struct {
	Designs   []design.Design
	Scenarios []workloads.Program
	// Named reports whether the user chose the scenarios, and so must be told if some do not apply
	// to a design.
	Named bool
	// Config has the settings for each design. The scenarios of a design share its budget and its
	// schedules.
	Config explore.Config
}

// Choose sets the scenarios to those with these names; without names to all, except those that run
// only on request.
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

// Longest returns the longest time that the exploration may take, zero if it has no time limit.
// Designs are explored several at a time.
func (p *Plan) Longest() time.Duration {
	return p.Config.Budget * time.Duration((len(p.Designs)+p.workers()-1)/max(1, p.workers()))
}

// workers returns the number of designs that are explored at a time.
func (p *Plan) workers() int { return min(runtime.NumCPU(), len(p.Designs)) }

// Designs returns the designs that these names or patterns select, or lockbench's own if there are
// none. It leaves out designs that a pattern selects and that cannot be explored. It returns an
// error if none remains, or if such a design is named itself.
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

// FindDesign returns the design with this name and [design.Design.Definition]. It may be the lock of
// the self-check, a lock of commands, or an adapter. Call it outside of bubbles.
func FindDesign(name, definition string) (design.Design, error) {
	switch name {
	case mutants.SelfCheckName:
		return mutants.SelfCheck("plain-del"), nil
	case commands.Name:
		return commands.Defined(definition)
	}
	if definition != "" {
		return adapter.Defined(name, definition)
	}
	found, err := impls.Match(name)
	if err != nil {
		return design.Design{}, err
	}
	return found[0], nil
}
