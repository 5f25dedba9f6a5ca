package impls

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/impls/control"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/suggest"
)

// Controls returns what runs compare locks with: no locks, and none of All.
func Controls() []design.Design { return control.Designs() }

// MatchRun is [Match] for a run, which may have controls: those that are named come last. No
// pattern selects them.
func MatchRun(patterns ...string) ([]design.Design, error) {
	var controls []design.Design
	for _, d := range Controls() {
		if slices.Contains(patterns, d.Name) {
			controls = append(controls, d)
			patterns = slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == d.Name })
		}
	}
	if len(patterns) == 0 && len(controls) > 0 {
		return controls, nil
	}
	for _, p := range patterns {
		if strings.HasPrefix(p, "control/") {
			return nil, unknownControl(p)
		}
	}
	designs, err := Match(patterns...)
	return append(designs, controls...), err
}

// unknownControl is the error for the name of a control that there is none of.
func unknownControl(name string) error {
	var names []string
	for _, d := range Controls() {
		names = append(names, d.Name)
	}
	return suggest.Unknown("control", name, names)
}
