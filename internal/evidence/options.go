package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/results"
)

// Options are the user's options, as text.
type Options struct {
	// Explore is the time to explore each design, zero for no exploration.
	Explore time.Duration
	// Known is "on" if the released matrix counts, else "off".
	Known string
	// Conditions are the names of the conditions that conclusions cover; "all", or nothing for the
	// usual ones.
	Conditions []string
}

// A Request is a parsed Options.
type Request struct {
	Options
	over lockbench.Conditions
}

// Parse parses the options. The error names the wrong one.
func (o Options) Parse() (Request, error) {
	r := Request{Options: o, over: conclusion.Usual()}
	if o.Explore < 0 {
		return r, fmt.Errorf("--explore %v: time does not run backwards; hint: 1s, or 0s for no exploration", o.Explore)
	}
	if !slices.Contains([]string{"on", "off"}, o.Known) {
		return r, fmt.Errorf("--known %s: it is neither on nor off; hint: --known off leaves the released matrix out", o.Known)
	}
	if len(o.Conditions) > 0 {
		over, err := Conditions(o.Conditions)
		if err != nil {
			return r, err
		}
		r.over = over
	}
	return r, nil
}

// Beside returns a request for the findings of the released matrix, over the usual conditions.
func Beside() Request { return Request{Options: Options{Known: "on"}, over: conclusion.Usual()} }

// Conditions parses names of conditions; "all" and "none" are valid, too.
func Conditions(names []string) (over lockbench.Conditions, err error) {
	var known []string
	for _, c := range lockbench.AllConditions() {
		known = append(known, c.Name)
	}
	for _, name := range names {
		i := slices.Index(known, name)
		switch {
		case name == "all":
			over |= conclusion.All()
		case name == "none":
		case i < 0:
			return over, fmt.Errorf("--conditions: %w", suggest.Unknown("condition", name, append(known, "all", "none")))
		default:
			over |= lockbench.AllConditions()[i].Condition
		}
	}
	return over, nil
}

// unheard is a sink that discards everything.
var unheard = exploring.Sink{
	Say: func(string) {}, Begin: func(string) {}, SoFar: func(string, string, explore.Progress) {}, End: func(string, []results.Explored) {},
}

// names returns the names of the designs, or their number if there are many.
func names(designs []design.Design) string {
	if len(designs) > 3 {
		return fmt.Sprintf("%d designs", len(designs))
	}
	var all []string
	for _, d := range designs {
		all = append(all, d.Name)
	}
	return strings.Join(all, ", ")
}
