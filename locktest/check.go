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
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/workloads"
)

// Check is [Explore] for a caller that wants the findings as data, for instance to test that a
// lock is caught: it fails no test for its findings. It needs t to enter bubbles of
// testing/synctest; only newLocker reports to it.
//
// The error says why the lock could not be explored: it is about the environment, or about an
// acquire that fails while nothing is wrong.
func Check(t *testing.T, newLocker NewLocker, options ...ExploreOption) (Result, error) {
	t.Helper()
	began := time.Now()
	s, err := newExploreSettings(options)
	if err != nil {
		return Result{}, err
	}
	a, err := probe(t, newLocker)
	if t.Failed() {
		err = errors.Join(errors.New("newLocker failed the test"), err)
	}
	if err != nil {
		return Result{}, err
	}
	claims, err := s.claimed(a)
	if err != nil {
		return Result{}, err
	}
	c := &check{t: t, newLocker: newLocker, settings: s, abilities: read(a, claims), claims: claims, searched: map[lockbench.Cell]int64{}}
	c.prepare()
	c.settings.budget = s.budget.less(time.Since(began), 0) // the first looks at the lock are part of it
	if err := c.run(); err != nil {
		return Result{}, err
	}
	c.list()
	return c.result, nil
}

// check is one Check under way.
type check struct {
	t         *testing.T
	newLocker NewLocker
	settings  exploreSettings
	abilities abilities
	claims    lockbench.Claims
	design    design.Design
	inner     *testing.T  // the bubble's
	waiting   bool        // the current program is about the way in which waiters are granted the key
	read      atomic.Bool // the lock read its environment's clock
	left      error       // of a bubble that ended before its exploration
	// searched counts, by cell, the schedules of the programs that exercise it, if not all were
	// run.
	searched map[lockbench.Cell]int64
	result   Result // so far; until list, its Cells are the cells of explore.Result
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
	c.result = Result{
		Cells: checker.Cells{}, Unit: Schedules, Tests: map[lockbench.Cell]Test{},
		Seed: c.settings.seed, TTL: roundUp(exploredTTL, c.settings.unit), name: c.t.Name(),
	}
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
		note, err := c.again(c.settings.replay)
		c.result.Notes = append(c.result.Notes, note)
		return err
	}
	var again []string
	for _, file := range corpus(c.t.Name()) {
		note, err := c.again(file)
		if err != nil {
			note = err.Error()
		}
		again = append(again, note)
	}
	passes := c.passes()
	left := c.settings.budget
	least := left.share(4 * len(passes)) // on a loaded machine the first ones take more than their share
	for i, s := range passes {
		share := left.share(len(passes) - i).atLeast(least)
		began := time.Now()
		r, err := c.explore(s, share)
		if err != nil {
			return fmt.Errorf("explore %s: %w", s.name(), err)
		}
		left = left.less(time.Since(began), r.Coverage.Schedules) // with what follows the search
		c.cover(s, &r.Coverage)
		for _, d := range r.Defects {
			c.result.Defects = append(c.result.Defects, s.name()+": "+d)
		}
		c.add(r, s.name(), "")
		for _, found := range r.Findings {
			if found.Exercised && !r.Coverage.Complete {
				c.searched[found.Cell] += r.Coverage.Schedules
			}
		}
	}
	c.result.Notes = append(c.result.Notes, again...)
	return nil
}

// passes returns the searches that suit the lock's abilities and the settings.
func (c *check) passes() (all []pass) {
	able := c.abilities
	able.unit = c.settings.unit
	able.renews = able.renews || c.design.Renews // claimed, but refuted by the looks
	scenarios := slices.DeleteFunc(workloads.By(workloads.Explored), func(p workloads.Program) bool {
		return p.Exploration.OnRequest || !able.can(p)
	})
	for _, s := range scenarios {
		all = append(all, pass{program: s})
	}
	if c.settings.successor {
		all = append(all, pass{program: workloads.Must("successor")})
	}
	if c.settings.retries > 0 {
		all = append(all, pass{workloads.Must("contend"), c.settings.retries})
	}
	return all
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

// cover notes the coverage of a scenario.
func (c *check) cover(s pass, of *explore.Coverage) {
	c.result.Notes = append(c.result.Notes, fmt.Sprintf("%-15s %s", s.name(), of.Sentence()))
	if len(of.Lacks) > 0 && c.result.lacking == "" { // these may be the cause of any violation
		c.result.lacking = "the server of the exploration has no " + strings.Join(of.Lacks, ", ") + ", so that this proves nothing"
	}
}

func (c *check) explore(of pass, b budget) (explore.Result, error) {
	s := of.program
	alive := watch(wedged(c.t.Name()))
	defer alive.stop()
	c.waiting = aboutWaiters(s)
	r, err := explore.Run(c.t.Context(), c.bubble(), explore.Config{
		Design: c.design, Scenario: s.Name, Seed: c.settings.seed,
		Budget: b.time, Schedules: b.schedules, Retries: of.retries, TTL: roundUp(exploredTTL, c.settings.unit),
	}, func(explore.Progress) { alive.seen() })
	return r, errors.Join(err, c.left)
}

// exploredTTL is the lease asked for in virtual time.
const exploredTTL = 2 * time.Second

// aboutWaiters reports whether p tests the way in which a lock grants its waiters a key.
func aboutWaiters(p workloads.Program) bool { return slices.Contains(p.Exercises, awakened) }

// again runs the schedule in file. If the lock no longer follows it, its new behaviour is judged. The note
// is the outcome.
func (c *check) again(file string) (note string, _ error) {
	schedule, err := readReplay(file)
	if err != nil {
		return "", err
	}
	cfg, err := schedule.Config()
	if err != nil {
		return "", err
	}
	p, err := workloads.Find(workloads.Explored, cfg.Scenario)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	c.waiting = aboutWaiters(p)
	alive := watch(wedged(c.t.Name()))
	defer alive.stop()
	r, err := explore.Rerun(c.t.Context(), c.bubble(), c.design, schedule)
	if err = errors.Join(err, c.left); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	came := "shows what it did"
	if len(r.Defects) > 0 { // the lock has changed since
		came, _, _ = strings.Cut(r.Defects[0], ";")
	}
	c.add(r, file, file)
	return file + ": " + came, nil
}

// bubble enters bubbles of the test and notes the inner test of each, since no other may be used
// within.
func (c *check) bubble() explore.Bubble {
	return explore.Bubble{
		Enter: func(body func()) {
			ended := false
			left := bubble.Enter(c.t, func(t *testing.T) {
				c.inner = t
				body()
				ended = true
			})
			if left == nil {
				return
			}
			left = fmt.Errorf("%w; hint: %s", left, endAll)
			if ended {
				panic(left) // package explore reports it beside what it found
			}
			c.left = fmt.Errorf("newLocker failed the test: %w", left)
		},
		Wait: synctest.Wait,
	}
}

// add adds r, found in a scenario or in the schedule of file, to the result. Of two findings on a
// cell it keeps the graver one, or the one with fewer steps, with the counts of both.
func (c *check) add(r explore.Result, scenario, file string) {
	for _, found := range r.Findings {
		test := Test{Source: scenario, file: file}
		if s, ok := r.Counterexamples[found.Cell]; ok {
			test.schedule, test.Replay, test.against = &s, string(s.Replay.Text), s.Against
		}
		sum, taken := found.Finding, true
		if before, known := c.result.Cells[found.Cell]; known {
			shorter := test.steps() < c.result.Tests[found.Cell].steps()
			sum, taken = before.Join(found.Cell.Guarantee, found.Finding, shorter)
		}
		c.result.Cells[found.Cell] = sum
		if taken {
			c.result.Tests[found.Cell] = test
		}
	}
}

// steps returns the length of the schedule of t, or a larger number if there is none.
func (t Test) steps() int {
	if t.schedule == nil {
		return 1 << 30
	}
	return len(t.schedule.Rows)
}

// list reduces the cells to the cells that a Result lists, and judges them. The finding on a cell
// counts all occasions under its conditions, whatever else happened. A cell under several
// conditions is only listed if it is broken and no cell under fewer conditions explains it.
func (c *check) list() {
	all, listed := c.result.Cells, checker.Cells{}
	for _, cell := range all.Sorted() {
		_, explained := all.Explained(cell)
		if f := all.Touched(cell); cell.Under.Count() < 2 || f.Verdict == checker.Broken && !explained {
			listed[cell] = f
		}
	}
	for _, cell := range unmet(listed.Sorted()) {
		f := all.Touched(cell)
		if f.Claimed = c.claims.Claims(cell); f.Exposure == 0 {
			f.Note = "nothing of the kind happened: " + cell.Under.String()
		}
		listed[cell] = f
	}
	excused := slices.ContainsFunc(listed.List(), tested)
	tests := make(map[lockbench.Cell]Test, len(listed))
	for cell, f := range listed {
		test := c.result.Tests[cell]
		if f.Violations == 0 {
			test.Skipped = c.lacks(cell)
		}
		if test.Skipped == "" && excused {
			test.Skipped = c.tooFew(cell, f)
			test.starved = test.Skipped != ""
		}
		tests[cell] = test
	}
	c.result.Cells, c.result.Tests = listed, tests
	c.result.findCauses()
	c.result.accept(c.settings.accepted, time.Now())
	for cell, test := range tests {
		test.Err = c.result.judge(cell)
		tests[cell] = test
	}
}

// judge returns the error of cell in a Result of Check, nil for none.
func (r *Result) judge(cell lockbench.Cell) error {
	f := r.Cells[cell]
	switch {
	case r.lacking != "":
		return nil
	case f.Against > 0 && r.Tests[cell].Accepted != nil:
		return nil
	case f.Against > 0:
		return errors.New(r.text(cell))
	case f.Claimed && f.Exercised && f.Verdict == checker.Untested && r.Tests[cell].Skipped == "":
		return fmt.Errorf("%s: %w, %s; hint: raise %s", cell, ErrUntested, f.Note, budgetVariable)
	}
	return nil
}

// tooFew returns a note if a claim met no occasion although more schedules exist than were run: a
// slow client makes schedules few. It is empty if the claim met an occasion, or has to
// ([WithRequired]). A schedule that broke the cell, and took another course when it was run again,
// counts as an occasion.
func (c *check) tooFew(cell lockbench.Cell, f checker.Finding) string {
	n, searched := c.searched[cell]
	if c.settings.required || !searched || !f.Claimed || !f.Exercised || f.Verdict != checker.Untested || f.Exposure > 0 {
		return ""
	}
	return fmt.Sprintf("untested in %s, %s; hint: raise %s", figures.Plural(n, "schedule"), f.Note, budgetVariable)
}

// lacks says why cell does not apply to the lock, empty if it does.
func (c *check) lacks(cell lockbench.Cell) string {
	if cell.Under.Has(lockbench.Skew) && !c.read.Load() {
		return "the lock does not read the clock of its environment, Env.Now: only that is skewed"
	}
	if cell.Guarantee == lockbench.WakeUp && !c.abilities.waits {
		return "the lock does not wait as it is told, by Options.Wait: its waits are made of single tries here"
	}
	return c.abilities.lacks(cell)
}
