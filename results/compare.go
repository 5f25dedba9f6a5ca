package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/measure/statistics"
)

// A Comparison holds the differences between two sets of results, BASE and NEW. A set may have
// several runs of each design, which count as repetitions. Its JSON form is described by
// reports/schema/report-v4.json.
type Comparison struct {
	// Alpha bounds the probability that a comparison of two equal sides shows any difference in
	// speed, see [statistics.Alpha]. Tests is the number of figures compared at once; p-values are
	// corrected for it. With fewer than RunsNeeded runs of each side not even the clearest
	// difference is significant.
	Alpha      float64 `json:"alpha"`
	Tests      int     `json:"tests"`
	RunsNeeded int     `json:"runs_needed"`
	// Designs are the designs of both sides, in the order of BASE. BaseOnly and NewOnly name the
	// designs of one side only.
	Designs  []ComparedDesign `json:"designs"`
	BaseOnly []string         `json:"base_only,omitempty"`
	NewOnly  []string         `json:"new_only,omitempty"`
	// Differences are the settings and surroundings in which the sides differ. SpeedsBarred reports
	// whether speeds were not compared because some difference makes that meaningless.
	Differences  []Difference `json:"differences,omitempty"`
	SpeedsBarred bool         `json:"speeds_barred"`
	// Limits are the allowed changes for the worse, with their outcomes.
	Limits []LimitOutcome `json:"limits,omitempty"`
	// FailedWeaker reports whether the comparison fails because a claim lost strength, see
	// [CompareOptions].
	FailedWeaker bool `json:"failed_weaker,omitempty"`
	// Notes are remarks for people on the comparison.
	Notes []string `json:"notes,omitempty"`
	// Open lists the reasons why the comparison is inconclusive; empty if it is not.
	Open []string `json:"open,omitempty"`
	// Exit is the exit code: 1 if a claimed cell is worse, else 3 if Open has a reason, else 4 if a
	// limit is passed or FailedWeaker is set, else 0.
	Exit int `json:"exit"`
}

// A ComparedDesign compares the runs of one design in BASE with its runs in NEW. Base and New are
// the labels of the two groups of runs; they are of different designs if each side has a single
// one. Cells and Metrics are the compared cells and figures.
type ComparedDesign struct {
	Base string `json:"base"`
	New  string `json:"new"`
	// BaseRuns and NewRuns count the runs of each side. LeftOut counts the runs of both sides that
	// do not count for speed.
	BaseRuns int `json:"base_runs"`
	NewRuns  int `json:"new_runs"`
	LeftOut  int `json:"left_out,omitempty"`
	// BaseErrors and NewErrors are the errors that operations met, summed over all runs of a side.
	BaseErrors []Error `json:"base_errors,omitempty"`
	NewErrors  []Error `json:"new_errors,omitempty"`
	// Blocks is the number of blocks in which speeds were compared; a block has runs of both sides
	// that were made near each other in time. It is 1 if the sides did not take turns, and 0 if no
	// speeds were compared.
	Blocks  int            `json:"blocks,omitempty"`
	Cells   []CellChange   `json:"cells"`
	Metrics []MetricChange `json:"metrics"`

	base, changed []observed
}

// Label returns the name of the design, or both names, as "a -> b".
func (d *ComparedDesign) Label() string {
	if d.Base == d.New {
		return d.Base
	}
	return d.Base + " -> " + d.New
}

// CompareOptions are the options of [Compare]. The zero value allows every change of speed.
type CompareOptions struct {
	// Limits are the largest changes for the worse that are allowed.
	Limits []Limit
	// FailWeaker makes the comparison fail, with exit code 4, if a claim lost strength.
	FailWeaker bool
	// Force makes Compare compare speeds even if the settings differ.
	Force bool
}

// An observed is a run with the server and the environment in which it was made.
type observed struct {
	run    *Run
	server runinfo.Server
	env    runinfo.Environment
}

// A group is the runs of one design on one side.
type group struct {
	label string
	// design is the label without the point; point is empty unless a design ran at several.
	design, point string

	runs  []observed
	again int // number of runs left out because they were given before
}

// add adds a run to g. A run that was given before is only counted: it is no repetition.
func (g *group) add(o observed) {
	same := func(other observed) bool { return other.run.Started == o.run.Started && other.run.Seed == o.run.Seed }
	if o.run.Started != "" && slices.ContainsFunc(g.runs, same) {
		g.again++
		return
	}
	g.runs = append(g.runs, o)
}

// Compare compares the guarantees and the speed of base and changed. Each side is one or more
// results of one or more designs; several runs of one design are repetitions. Compare changes none
// of the results. It returns an error if a side has no runs or the sides have no design in common.
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

// distinguishing returns the shortest form of label that distinguishes the runs of each side by
// workload and point. Runs of one design in different results are repetitions, even if their
// numbers of clients or keys differ.
func distinguishing(sides ...[]Result) (l Label) {
	for _, side := range sides {
		l.Workloads = l.Workloads || manyWorkloads(side)
		for i := range side {
			l.TellPoints(side[i].Runs)
		}
	}
	return l
}

// manyWorkloads reports whether a design of one side ran under several workloads, so that its runs
// cannot be told apart by its name alone.
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

// groups groups runs by label, in the order of the first run of each.
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

// environment returns the environment of run: its own, or else the environment of r.
func (r *Result) environment(run *Run) runinfo.Environment {
	if run.Environment != nil {
		return *run.Environment
	}
	return r.Environment
}

// pair pairs the groups of the two sides by name, or by point if each side has a single design. It
// returns an error if nothing can be paired.
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

// order adds a note if all runs of one side were made before the runs of the other.
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

// started returns the starting times of the runs that have one.
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

// conclude sets Notes, Open and Exit, from all that was compared.
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

// openInconclusive records, for each side, the first run that is inconclusive, with the reason.
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

// shortOfLoad counts the open-loop runs that did not offer the requested load.
func (d *ComparedDesign) shortOfLoad() (n int) {
	for _, o := range slices.Concat(d.base, d.changed) {
		if loop := o.run.OpenLoop; loop != nil && !loop.KeptUp {
			n++
		}
	}
	return n
}

// stoodStill returns a note for each side with considerable standstills in its runs, with their
// total time.
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

// open records a reason why the comparison is inconclusive, once.
func (c *Comparison) open(reason string) {
	if !slices.Contains(c.Open, reason) {
		c.Open = append(c.Open, reason)
	}
}

// Shown returns the first finding of NEW that shows cell broken and can be drawn, nil if there is
// none.
func (d *ComparedDesign) Shown(cell lockbench.Cell) *Finding {
	for _, o := range d.changed {
		if f := o.run.Cells.At(cell); f.Drawable() {
			return &f
		}
	}
	return nil
}

// Samples returns the values of a metric in the runs of either side, without runs that do not count
// for speed; nil for a metric that is not compared.
func (d *ComparedDesign) Samples(metric string) (base, changed []float64) {
	for _, f := range compared() {
		if f.name == metric {
			return f.sample(d.base), f.sample(d.changed)
		}
	}
	return nil, nil
}
