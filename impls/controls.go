package impls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/internal/control"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// Controls returns the controls: baselines that runs compare locks with. A control is not a lock,
// and not in [All].
func Controls() []design.Design { return control.Designs() }

// MatchRun is like [Match], but patterns may be names of controls as well. Only a name selects a
// control, not a glob. Controls come last.
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

// noLock returns an error if name is the name of a control, known or unknown; nil for any other
// name. Callers allow only locks.
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
