package impls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/control"
	"github.com/lockbench/lockbench/internal/suggest"
)

// Controls returns the controls that runs compare locks with. They are no locks, and not in All.
func Controls() []design.Design { return control.Designs() }

// MatchRun is [Match] for a run, which may have controls. Controls are selected only by name,
// and come last.
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
	designs, err := Match(patterns...)
	return append(designs, controls...), err
}

// noLock is the error for the name of a control, known or unknown, where only locks can be
// named; nil for any other name.
func noLock(name string) error {
	if !strings.HasPrefix(name, "control/") {
		return nil
	}
	var names []string
	for _, d := range Controls() {
		if d.Name == name {
			return fmt.Errorf("%s is a control and no lock: it %s; lockbench run has it beside locks, to compare them with; hint: lockbench run --design %[1]s", name, d.Summary)
		}
		names = append(names, d.Name)
	}
	return suggest.Unknown("control", name, names)
}
