package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/workloads"
)

// A Result is the result of exploring a lock.
type Result struct {
	// Findings has an entry for each guarantee under no condition, one for each under a condition
	// that was met, one for each broken under several conditions unless fewer explain it, and one
	// of exclusion for each condition that was not met; in the order of lockbench.Cell.Compare. A
	// verdict is the worst of any scenario.
	Findings []Finding
	// Defects are lockbench's own contradictions: a Result with any proves nothing.
	Defects []string
	// Again has the outcome of each schedule file that was run again.
	Again []string

	coverage  []explore.Coverage // of each scenario
	name      string             // of the test
	abilities abilities
	clock     bool // the lock read its environment's clock
	seed      uint64
}

// A Finding is the finding on one cell: on a guarantee, under conditions.
type Finding struct {
	checker.CellFinding
	// Scenario is the source of the finding: the name of a scenario, or the file of a schedule.
	Scenario string

	// schedule breaks the cell; nil if the cell is not broken, or if the schedule of the same
	// guarantee under fewer conditions breaks it, too.
	schedule *explore.Counterexample
	file     string // the file of schedule
}

// Replay is the file of the schedule that breaks the cell, which LOCKBENCH_REPLAY runs again;
// empty if the cell is not broken, or if the schedule of the same guarantee under fewer
// conditions breaks it, too.
func (f Finding) Replay() string {
	if f.schedule == nil {
		return ""
	}
	return string(f.schedule.Replay.Text)
}

// Check is [Explore] for a caller that wants the findings as data, for instance to test that a
// lock is caught: it fails no test for its findings. It needs t to enter bubbles of
// testing/synctest; only newLocker reports to it.
//
// The error says why the lock could not be explored: it is about the environment, or about an
// acquire that fails while nothing is wrong.
func Check(t *testing.T, newLocker NewLocker, options ...Option) (Result, error) {
	t.Helper()
	s, err := exploreSettings(options)
	if err != nil {
		return Result{}, err
	}
	a, err := probe(t, newLocker)
	if err == nil && t.Failed() {
		err = errors.New("newLocker failed the test")
	}
	if err != nil {
		return Result{}, err
	}
	claims, err := claimed(a, s.option, s.claims)
	if err != nil {
		return Result{}, err
	}
	c := &check{t: t, newLocker: newLocker, settings: s, abilities: read(a, claims), claims: claims}
	c.prepare()
	if err := c.run(); err != nil {
		return Result{}, err
	}
	c.result.clock = c.read.Load()
	c.list()
	return c.result, nil
}

// check is one Check under way.
type check struct {
	t         *testing.T
	newLocker NewLocker
	settings  settings
	abilities abilities
	claims    lockbench.Claims
	design    design.Design
	inner     *testing.T  // the bubble's
	waiting   bool        // the current program is about the way in which waiters are granted the key
	read      atomic.Bool // the lock read its environment's clock
	result    Result
}

func (c *check) prepare() {
	c.design = design.Design{
		Name:      c.t.Name(),
		Summary:   "a lock under test",
		Source:    "locktest",
		Claims:    c.claims,
		Reacquire: c.abilities.reacquire,
		Open:      onredis.Open(c.open),

		Renews:       c.claims.Claims(lockbench.Exclusion.At(lockbench.Outlived)),
		RenewsUnseen: c.abilities.renews,
	}
	c.result = Result{name: c.t.Name(), seed: c.settings.seed, abilities: c.abilities}
}

func (c *check) open(env onredis.Environment) (design.Process, error) {
	now := env.Now
	env.Now = func() time.Time {
		c.read.Store(true)
		return now()
	}
	p := open(c.inner, c.newLocker, env)
	locker := p.waitingLocker
	if c.abilities.validity || c.abilities.waits && c.waiting { // leases tell the start themselves, or the program is about waiting
		locker = func(design.Observer) lockbench.Locker { return p.owner() }
	}
	return design.NewProcess(locker, p.close), nil
}

// run runs the schedules of the corpus again, and explores the scenarios that suit the lock's
// abilities.
func (c *check) run() error {
	if c.settings.replay != "" {
		return c.again(c.settings.replay)
	}
	for _, file := range corpus(c.t.Name()) {
		if err := c.again(file); err != nil {
			c.result.Again = append(c.result.Again, err.Error())
		}
	}
	able := c.abilities
	able.unit = c.settings.unit
	able.renews = able.renews || c.design.Renews // claimed, but refuted by the looks
	scenarios := slices.DeleteFunc(workloads.By(workloads.Explored), func(p workloads.Program) bool {
		return p.Exploration.OnRequest || !able.can(p)
	})
	passes := make([]pass, 0, len(scenarios)+1)
	for _, s := range scenarios {
		passes = append(passes, pass{program: s})
	}
	if c.settings.retries > 0 {
		passes = append(passes, pass{workloads.Must("contend"), c.settings.retries})
	}
	left := c.settings.budget
	for i, s := range passes {
		share := left.share(len(passes) - i)
		r, err := c.explore(s, share)
		if err != nil {
			return fmt.Errorf("explore %s: %w", s.name(), err)
		}
		left = left.less(r.Elapsed, r.Coverage.Schedules)
		r.Coverage.Scenario = s.name()
		c.result.coverage = append(c.result.coverage, r.Coverage)
		for _, d := range r.Defects {
			c.result.Defects = append(c.result.Defects, s.name()+": "+d)
		}
		c.add(r, s.name(), "")
	}
	return nil
}

// A pass is the search in one scenario, with clients that send a command again a given number of
// times.
type pass struct {
	program workloads.Program
	retries int
}

func (p pass) name() string {
	if p.retries == 0 {
		return p.program.Name
	}
	return p.program.Name + "+retries"
}

func (c *check) explore(of pass, b budget) (explore.Result, error) {
	s := of.program
	alive := watch(wedged(c.t.Name()))
	defer alive.stop()
	c.waiting = aboutWaiters(s)
	return explore.Run(c.t.Context(), c.bubble(), explore.Config{
		Design: c.design, Scenario: s.Name, Seed: c.settings.seed,
		Budget: b.time, Schedules: b.schedules, Retries: of.retries, TTL: whole(exploredTTL, c.settings.unit),
	}, func(explore.Progress) { alive.seen() })
}

// exploredTTL is the lease asked for in virtual time.
const exploredTTL = 2 * time.Second

// aboutWaiters reports whether p tests the way in which a lock grants its waiters a key.
func aboutWaiters(p workloads.Program) bool { return slices.Contains(p.Exercises, awakened) }

// again runs the schedule in file. If the lock no longer follows it, its new behaviour is judged.
func (c *check) again(file string) error {
	schedule, err := readReplay(file)
	if err != nil {
		return err
	}
	cfg, _, err := schedule.Config()
	if err != nil {
		return err
	}
	p, err := workloads.Find(workloads.Explored, cfg.Scenario)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.waiting = aboutWaiters(p)
	alive := watch(wedged(c.t.Name()))
	defer alive.stop()
	r, err := explore.Rerun(c.t.Context(), c.bubble(), c.design, schedule)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	came := "shows what it did"
	if len(r.Defects) > 0 { // the lock has changed since
		came, _, _ = strings.Cut(r.Defects[0], ";")
	}
	c.result.Again = append(c.result.Again, file+": "+came)
	c.add(r, file, file)
	return nil
}

// bubble enters bubbles of the test and notes the inner test of each, since no other may be used
// within.
func (c *check) bubble() explore.Bubble {
	return explore.Bubble{
		Enter: func(body func()) {
			synctest.Test(c.t, func(t *testing.T) {
				c.inner = t
				body()
			})
		},
		Wait: synctest.Wait,
	}
}

// add adds r, found in a scenario or in the schedule of file, to the findings before.
func (c *check) add(r explore.Result, scenario, file string) {
	for _, found := range r.Findings {
		f := Finding{CellFinding: found, Scenario: scenario, file: file}
		if w, ok := r.Counterexamples[found.Cell]; ok {
			f.schedule = &w
		}
		at, known := c.result.place(f.Cell)
		if !known {
			c.result.Findings = slices.Insert(c.result.Findings, at, f)
			continue
		}
		c.result.Findings[at].join(f)
	}
}

// place returns the index of the finding on cell, or the index to insert it at.
func (r *Result) place(cell lockbench.Cell) (at int, known bool) {
	return slices.BinarySearchFunc(r.Findings, cell, func(f Finding, c lockbench.Cell) int { return f.Cell.Compare(c) })
}

// join adds other, a finding on the same cell: it keeps the graver of the two, or the one with
// fewer steps, with the counts of both.
func (f *Finding) join(other Finding) {
	sum, taken := f.Finding.Join(f.Cell.Guarantee, other.Finding, other.steps() < f.steps())
	if taken {
		*f = other
	}
	f.Finding = sum
}

// steps returns the length of the schedule of f, or a larger number if there is none.
func (f *Finding) steps() int {
	if f.schedule == nil {
		return 1 << 30
	}
	return len(f.schedule.Rows)
}

// list reduces the findings to those shown: a cell holds by all occasions under its conditions,
// whatever else happened, and a cell under several conditions is only shown if it is broken and no
// cell under fewer explains it.
func (c *check) list() {
	plain := c.result.cells()
	var all []Finding
	var cells []lockbench.Cell
	for _, f := range c.result.Findings {
		_, explained := plain.Explained(f.Cell)
		if f.Finding = plain.Touched(f.Cell); f.Cell.Under.Count() < 2 || f.Verdict == checker.Broken && !explained {
			all, cells = append(all, f), append(cells, f.Cell)
		}
	}
	c.result.Findings = all
	for _, cell := range unmet(cells) {
		f := Finding{CellFinding: checker.CellFinding{Cell: cell, Finding: plain.Touched(cell)}}
		if f.Claimed = c.claims.Claims(cell); f.Exposure == 0 {
			f.Note = "nothing of the kind happened: " + cell.Under.String()
		}
		at, _ := c.result.place(cell)
		c.result.Findings = slices.Insert(c.result.Findings, at, f)
	}
}

// cells returns the findings by cell.
func (r *Result) cells() checker.Cells {
	all := make(checker.Cells)
	for _, f := range r.Findings {
		all[f.Cell] = f.Finding
	}
	return all
}
