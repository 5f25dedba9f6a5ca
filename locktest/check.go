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
	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/impls/design"
)

// A Result is what exploring a lock found.
type Result struct {
	// Findings has one entry per guarantee, in the order of lockbench.Guarantees: the
	// worst verdict of any scenario.
	Findings []Finding
	// Coverage says of each scenario how far it was explored.
	Coverage []explore.Coverage
	// Defects are lockbench's own contradictions: a Result with any proves nothing.
	Defects []string
	// Again says of each file of a schedule that was run again what came of it.
	Again []string

	name    string // of the test
	lacking map[lockbench.Guarantee]string
	seed    uint64
}

// A Finding is what was found of one guarantee.
type Finding struct {
	checker.Finding
	// Scenario is what showed it: a scenario's name, or the file of a schedule.
	Scenario string
	// Schedule shows the guarantee broken, or the hazard; nil when neither is.
	Schedule *explore.Witness

	file string // where Schedule stands
}

// Check is [Explore] for who wants the findings as data, for instance to test that
// a lock is caught: it fails no test for what it finds. t is what the bubbles of
// testing/synctest are entered by; nothing but newLocker reports to it.
//
// The error says why the lock could not be explored: of the environment, or of an
// acquire that fails while nothing is wrong.
func Check(t *testing.T, newLocker NewLocker) (Result, error) {
	t.Helper()
	s, err := environment()
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
	c := &check{t: t, newLocker: newLocker, settings: s, abilities: s.claims.read(a)}
	c.prepare()
	if err := c.run(); err != nil {
		return Result{}, err
	}
	if !c.read.Load() {
		c.result.lacking[lockbench.Skew] = "the lock does not read the clock of its environment, Env.Now: only that is skewed"
	}
	return c.result, nil
}

// check is one Check under way.
type check struct {
	t         *testing.T
	newLocker NewLocker
	settings  settings
	abilities abilities
	design    design.Design
	inner     *testing.T  // the bubble's
	read      atomic.Bool // the lock read its environment's clock
	result    Result
}

func (c *check) prepare() {
	claims := c.settings.claims.of(c.abilities)
	c.design = design.Design{
		Name:      c.t.Name(),
		Summary:   "a lock under test",
		Source:    "locktest",
		Claims:    claims,
		Reacquire: c.abilities.reacquire,
		Open:      c.open,

		Renews:       slices.Contains(claims, lockbench.Overrun),
		RenewsUnseen: c.abilities.renews,
	}
	c.result = Result{name: c.t.Name(), seed: c.settings.seed, lacking: map[lockbench.Guarantee]string{}}
	for _, i := range lockbench.Guarantees() {
		c.result.Findings = append(c.result.Findings, Finding{Finding: checker.Finding{
			Guarantee: i.Name, Claimed: slices.Contains(claims, i.Name),
		}})
		if why := c.abilities.lacks(i.Name); why != "" {
			c.result.lacking[i.Name] = why
		}
	}
}

func (c *check) open(env design.Environment) (design.Process, error) {
	now := env.Now
	env.Now = func() time.Time {
		c.read.Store(true)
		return now()
	}
	p := open(c.inner, c.newLocker, env)
	if c.abilities.validity {
		return frank{p}, nil
	}
	return patient{p}, nil
}

// run runs what is to be run again, and explores the scenarios that the lock has
// the abilities for.
func (c *check) run() error {
	if c.settings.replay != "" {
		return c.again(c.settings.replay)
	}
	for _, file := range corpus(c.t.Name()) {
		if err := c.again(file); err != nil {
			c.result.Again = append(c.result.Again, err.Error())
		}
	}
	scenarios := slices.DeleteFunc(explore.Scenarios(), func(s explore.Scenario) bool {
		return s.OnRequest || !c.abilities.can(s)
	})
	left := c.settings.budget
	for i, s := range scenarios {
		share := left.share(len(scenarios) - i)
		r, err := c.explore(s, share)
		if err != nil {
			return fmt.Errorf("explore %s: %w", s.Name, err)
		}
		left = left.less(r.Elapsed, r.Coverage.Schedules)
		c.result.Coverage = append(c.result.Coverage, r.Coverage)
		for _, d := range r.Defects {
			c.result.Defects = append(c.result.Defects, s.Name+": "+d)
		}
		c.add(r, s.Name, "")
	}
	return nil
}

func (c *check) explore(s explore.Scenario, b budget) (explore.Result, error) {
	alive := watch(wedged(c.t.Name()))
	defer alive.stop()
	return explore.Run(c.t.Context(), c.bubble(), explore.Config{
		Design: c.design, Scenario: s.Name, Seed: c.settings.seed,
		Budget: b.time, Schedules: b.schedules,
	}, func(explore.Progress) { alive.seen() })
}

// again runs the schedule in file. Where the lock no longer does as it says, what it
// does instead is judged.
func (c *check) again(file string) error {
	schedule, err := readReplay(file)
	if err != nil {
		return err
	}
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

// bubble enters bubbles of the test and notes the inner test of each, which is the
// only one that may be used within.
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

// add puts r, found in a scenario or in the schedule of file, to what was found
// before.
func (c *check) add(r explore.Result, scenario, file string) {
	for i := range c.result.Findings {
		f := &c.result.Findings[i]
		for _, found := range r.Findings {
			if found.Guarantee == f.Guarantee {
				other := Finding{Finding: found, Scenario: scenario, file: file}
				if w, ok := r.Witnesses[f.Guarantee]; ok {
					other.Schedule = &w
				}
				f.join(other)
			}
		}
	}
}

// join makes f what it and other say together.
func (f *Finding) join(other Finding) {
	exposure, violations := f.Exposure+other.Exposure, f.Violations+other.Violations
	claimed, exercised := f.Claimed, f.Exercised || other.Exercised
	if f.Scenario == "" || other.outweighs(f) {
		*f = other
	}
	f.Exposure, f.Violations = exposure, violations
	f.Claimed, f.Exercised = claimed, exercised
}

func (f *Finding) outweighs(other *Finding) bool {
	if f.Verdict != other.Verdict {
		return f.Verdict.Graver(other.Verdict)
	}
	return f.steps() < other.steps()
}

// steps is the length of the schedule that shows f, or more than any.
func (f *Finding) steps() int {
	if f.Schedule == nil {
		return 1 << 30
	}
	return len(f.Schedule.Rows)
}
