package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/runinfo"
	"github.com/lockbench/lockbench/internal/statistics"
)

// A Comparison has the differences between two sets of results, BASE and NEW, of repeated runs.
// Its JSON form is described by reports/schema/report-v4.json.
type Comparison struct {
	// Alpha is how often, at most, a comparison of equals shows a difference of speed
	// anywhere in it; Tests how many figures were compared at once, over which it is
	// corrected, and RunsNeeded how many runs of each side it takes to tell any.
	Alpha      float64 `json:"alpha"`
	Tests      int     `json:"tests"`
	RunsNeeded int     `json:"runs_needed"`
	// Designs are those that both sides have, in the order of BASE; BaseOnly and NewOnly
	// those that one has.
	Designs  []ComparedDesign `json:"designs"`
	BaseOnly []string         `json:"base_only,omitempty"`
	NewOnly  []string         `json:"new_only,omitempty"`
	// Differences are the settings and surroundings in which the sides differ. SpeedsBarred
	// says that some make a comparison of speeds meaningless, and that there is none.
	Differences  []Difference `json:"differences,omitempty"`
	SpeedsBarred bool         `json:"speeds_barred"`
	// Limits are the changes that were allowed, with their outcomes.
	Limits []LimitOutcome `json:"limits,omitempty"`
	// FailedWeaker: claims that lost strength were to fail it, and some did.
	FailedWeaker bool     `json:"failed_weaker,omitempty"`
	Notes        []string `json:"notes,omitempty"`
	// Open says why the comparison is inconclusive.
	Open []string `json:"open,omitempty"`
	// Exit is 1 when a guarantee that is claimed is worse, 3 when something is open, 4 when
	// a limit is passed or it failed by lost strength, else 0.
	Exit int `json:"exit"`
}

// A ComparedDesign is one design, or one of BASE and another of NEW.
type ComparedDesign struct {
	Base string `json:"base"`
	New  string `json:"new"`
	// BaseRuns and NewRuns count the runs; LeftOut those of both whose speed does not count.
	BaseRuns int `json:"base_runs"`
	NewRuns  int `json:"new_runs"`
	LeftOut  int `json:"left_out,omitempty"`
	// BaseErrors and NewErrors are the errors that all runs of a side met.
	BaseErrors []Error `json:"base_errors,omitempty"`
	NewErrors  []Error `json:"new_errors,omitempty"`
	// Blocks is in how many groups of neighbouring runs speeds were compared: 1 where the
	// sides did not take turns, 0 where none were.
	Blocks  int            `json:"blocks,omitempty"`
	Cells   []CellChange   `json:"cells"`
	Metrics []MetricChange `json:"metrics"`

	base, changed []observed
}

// Label names the design, or both.
func (d *ComparedDesign) Label() string {
	if d.Base == d.New {
		return d.Base
	}
	return d.Base + " -> " + d.New
}

// CompareOptions say what to compare, and what to allow.
type CompareOptions struct {
	// Limits are the changes for the worse that pass.
	Limits []Limit
	// FailWeaker has claims that lost strength fail it, with exit 4.
	FailWeaker bool
	// Force compares speeds also where the settings differ.
	Force bool
}

// observed is a run with where it ran.
type observed struct {
	run    *Run
	server runinfo.Server
	env    runinfo.Environment
}

// A group is the runs of one design on one side.
type group struct {
	label string
	// design is the label without the point.
	design, point string

	runs  []observed
	again int // how many of them were given more than once
}

// add takes a run, once: what is given twice is no repetition.
func (g *group) add(o observed) {
	same := func(other observed) bool { return other.run.Started == o.run.Started && other.run.Seed == o.run.Seed }
	if o.run.Started != "" && slices.ContainsFunc(g.runs, same) {
		g.again++
		return
	}
	g.runs = append(g.runs, o)
}

// Compare reports what became of the guarantees and the speed of base in changed. Each side is
// one or more results, of one design or several; runs of one design are repetitions. The
// error says why nothing can be compared. It changes none of the results.
func Compare(base, changed []Result, opt CompareOptions) (Comparison, error) {
	c := Comparison{Alpha: statistics.Alpha, Designs: []ComparedDesign{}}
	label := distinguishing(base, changed)
	if err := c.pair(groups(base, label), groups(changed, label)); err != nil {
		return c, err
	}
	c.settings(opt.Force)
	c.order()
	c.cells()
	c.speeds()
	c.noteInsensitive()
	c.limits(opt.Limits)
	c.conclude(slices.Concat(base, changed))
	if opt.FailWeaker && len(c.StrengthLosses()) > 0 {
		c.FailedWeaker, c.Exit = true, worst(c.Exit, FailedThreshold)
	}
	return c, nil
}

// distinguishing returns the label that distinguishes the workloads and the points of each side.
// Results with one run of a design each are repetitions, also where their settings differ.
func distinguishing(sides ...[]Result) (l Label) {
	for _, side := range sides {
		l.Workloads = l.Workloads || manyWorkloads(side)
		for i := range side {
			l.TellPoints(side[i].Runs)
		}
	}
	return l
}

// manyWorkloads reports whether a design of this side ran under several, so that its name
// alone does not tell its runs apart.
func manyWorkloads(results []Result) bool {
	seen := make(map[string]string)
	for _, r := range results {
		for i := range r.Runs {
			name := Label{}.Of(&r.Runs[i])
			if was, ran := seen[name]; ran && was != r.Runs[i].Workload {
				return true
			}
			seen[name] = r.Runs[i].Workload
		}
	}
	return false
}

// groups puts runs of one label together, in the order in which labels first come up.
func groups(results []Result, label Label) []group {
	var all []group
	for i := range results {
		r := &results[i]
		for j := range r.Runs {
			o := observed{run: &r.Runs[j], server: r.ServerOf(&r.Runs[j]), env: r.environment(&r.Runs[j])}
			name := label.Of(o.run)
			at := slices.IndexFunc(all, func(g group) bool { return g.label == name })
			if at < 0 {
				at, all = len(all), append(all, group{label: name, design: Label{Workloads: label.Workloads}.Of(o.run), point: label.Point(o.run)})
			}
			all[at].add(o)
		}
	}
	return all
}

// environment is where the run was made.
func (r *Result) environment(run *Run) runinfo.Environment {
	if run.Environment != nil {
		return *run.Environment
	}
	return r.Environment
}

// pair finds what to compare with what: designs of one name, or the only one of each side, at the
// same point.
func (c *Comparison) pair(base, changed []group) error {
	switch {
	case len(base) == 0:
		return errors.New("BASE has no runs")
	case len(changed) == 0:
		return errors.New("NEW has no runs")
	case len(base) == 1 && len(changed) == 1:
		c.add(base[0], changed[0])
		return nil
	}
	single := oneDesign(base) && oneDesign(changed)
	for _, b := range base {
		at := slices.IndexFunc(changed, func(g group) bool { return g.label == b.label || single && g.point == b.point })
		if at < 0 {
			c.BaseOnly = append(c.BaseOnly, b.label)
			continue
		}
		c.add(b, changed[at])
		changed = slices.Delete(slices.Clone(changed), at, at+1)
	}
	for _, g := range changed {
		c.NewOnly = append(c.NewOnly, g.label)
	}
	if len(c.Designs) == 0 {
		return fmt.Errorf("the sides have no design in common: BASE has %s, NEW has %s; hint: give files with one design on each side to compare two designs",
			strings.Join(c.BaseOnly, ", "), strings.Join(c.NewOnly, ", "))
	}
	return nil
}

// oneDesign reports whether all groups are points of one design.
func oneDesign(all []group) bool {
	return !slices.ContainsFunc(all, func(g group) bool { return g.design != all[0].design })
}

func (c *Comparison) add(base, changed group) {
	for _, g := range []group{base, changed} {
		if g.again > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s given more than once, which count once", g.label, figures.Plural(int64(g.again), "run")))
		}
	}
	c.Designs = append(c.Designs, ComparedDesign{
		Base: base.label, New: changed.label, BaseRuns: len(base.runs), NewRuns: len(changed.runs),
		Cells: []CellChange{}, Metrics: []MetricChange{}, base: base.runs, changed: changed.runs,
		BaseErrors: errorsOf(base.runs), NewErrors: errorsOf(changed.runs),
	})
}

// order notes when the sides did not take turns.
func (c *Comparison) order() {
	var base, changed []time.Time
	for _, d := range c.Designs {
		base, changed = append(base, started(d.base)...), append(changed, started(d.changed)...)
	}
	if len(base) == 0 || len(changed) == 0 {
		return
	}
	if latest(base).Before(earliest(changed)) || latest(changed).Before(earliest(base)) {
		c.Notes = append(c.Notes, "all runs of one side were made before those of the other: what changed on the machine in between looks like a difference; lockbench compare --run takes turns")
	}
}

// started lists when runs began, those that tell.
func started(runs []observed) (all []time.Time) {
	for _, o := range runs {
		if at, err := time.Parse(time.RFC3339, o.run.Started); err == nil {
			all = append(all, at)
		}
	}
	return all
}

func earliest(all []time.Time) time.Time { return slices.MinFunc(all, time.Time.Compare) }
func latest(all []time.Time) time.Time   { return slices.MaxFunc(all, time.Time.Compare) }

// conclude settles what the comparison comes to.
func (c *Comparison) conclude(results []Result) {
	for _, r := range results {
		if len(r.NotRun) > 0 {
			c.open("not run: " + strings.Join(r.NotRun, ", "))
		}
		if s := r.SelfCheck; s != nil && !s.Caught {
			c.open(fmt.Sprintf("a lock broken on purpose was not caught breaking %s: %s", s.MustBreak, s.Reason()))
		}
	}
	for i := range c.Designs {
		d := &c.Designs[i]
		if d.LeftOut > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: the speed of %s does not count: they ended early, in an error or without a grant", d.Label(), figures.Plural(int64(d.LeftOut), "run")))
		}
		if n := d.shortOfLoad(); n > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s not offered the load that was asked for: the latencies lack what still waited, or are the machine's", d.Label(), wasWere(n)))
		}
		c.Notes = append(c.Notes, d.stoodStill()...)
		c.openInconclusive(d)
		c.openCells(d)
		c.openSpeeds(d)
	}
	exits := []int{Passed}
	if len(c.Open) > 0 {
		exits = append(exits, Inconclusive)
	}
	for _, l := range c.Limits {
		exits = append(exits, l.exit())
	}
	if c.ClaimsWorse() > 0 {
		exits = append(exits, BrokenClaim)
	}
	c.Exit = worst(exits...)
}

// openUnfit says of which side a run shows too little, and why.
func (c *Comparison) openInconclusive(d *ComparedDesign) {
	for _, side := range []struct {
		name string
		runs []observed
	}{{"BASE", d.base}, {"NEW", d.changed}} {
		for _, o := range side.runs {
			if _, why := o.run.WhyInconclusive(); why != "" {
				c.open(fmt.Sprintf("%s: a run of %s does not count: %s", d.Label(), side.name, why))
				break
			}
		}
	}
}

// shortOfLoad counts the runs of an open loop that did not keep up.
func (d *ComparedDesign) shortOfLoad() (n int) {
	for _, o := range slices.Concat(d.base, d.changed) {
		if loop := o.run.OpenLoop; loop != nil && !loop.KeptUp {
			n++
		}
	}
	return n
}

// stoodStill notes on which side somebody stood still, and for how long, in all runs.
func (d *ComparedDesign) stoodStill() (notes []string) {
	for _, side := range []struct {
		name string
		runs []observed
	}{{"base", d.base}, {"new", d.changed}} {
		var sum *Standstills
		var ns int64
		for _, o := range side.runs {
			sum, ns = sum.Plus(o.run.Standstills), ns+o.run.MeasuredNS
		}
		if much := sum.Of(ns); much != "" {
			notes = append(notes, fmt.Sprintf("%s: lockbench or its server stood still for %s, in the runs of %s; that breaks no claim, and is in the speeds", d.Label(), much, side.name))
		}
	}
	return notes
}

func wasWere(runs int) string {
	if runs == 1 {
		return "1 run was"
	}
	return figures.Plural(int64(runs), "run") + " were"
}

// open notes a reason why nothing can be concluded, once.
func (c *Comparison) open(reason string) {
	if !slices.Contains(c.Open, reason) {
		c.Open = append(c.Open, reason)
	}
}

// Shown returns a finding of NEW that shows a cell broken, nil if there is none.
func (d *ComparedDesign) Shown(cell lockbench.Cell) *Finding {
	for _, o := range d.changed {
		if f := o.run.Cells.At(cell); f.Drawable() {
			return &f
		}
	}
	return nil
}

// Samples are the values of a figure in the runs of either side whose speed counts.
func (d *ComparedDesign) Samples(metric string) (base, changed []float64) {
	for _, f := range compared() {
		if f.name == metric {
			return f.sample(d.base), f.sample(d.changed)
		}
	}
	return nil, nil
}
