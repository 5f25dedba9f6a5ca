package evidence

import (
	"context"
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

// Gather explores designs, and returns a function that adds the findings to a result of their runs
// and draws conclusions, see [Request.Conclude]. It announces its work with say.
//
// If it cannot explore, it calls say with the reason, and the function concludes without
// explorations.
func (r Request) Gather(ctx context.Context, designs []design.Design, scope explore.Config, say func(string, ...any)) func(*results.Result) {
	designs = slices.CompactFunc(slices.Clone(designs), func(a, b design.Design) bool { return a.Name == b.Name })
	scope.Budget = r.Explore
	p := Plan{Designs: designs, Scope: scope}
	if r.Explore == 0 {
		return func(result *results.Result) { r.Conclude(result, designs, nil) }
	}
	say("exploring %s in virtual time, %v each ...", names(designs), r.Explore)
	sink := unheard
	sink.Say = func(text string) { say("%s", text) }
	searches, err := p.Search(ctx, sink)
	if err != nil {
		searches = make(Searches)
		for _, d := range designs {
			searches[d.Name] = &results.Search{NotDone: err.Error()}
		}
	}
	return func(result *results.Result) { r.Conclude(result, designs, searches) }
}

// Explored draws conclusions for the explored designs of result. If the plan names no scenarios and
// no guard, it first explores some more schedules with a guard in the store.
func (r Request) Explored(ctx context.Context, result *results.Result, p exploring.Plan) error {
	found := make(Searches)
	for _, d := range p.Designs {
		found[d.Name] = &results.Search{}
	}
	if !p.Named && p.Config.Guard == "" {
		if err := (Plan{Scope: p.Config}).guarded(ctx, p.Designs, unheard, found); err != nil {
			return err
		}
	}
	r.Conclude(result, p.Designs, found)
	return nil
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
