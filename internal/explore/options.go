package explore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/workloads"
)

// The defaults of a Config.
const (
	defaultClients = 2
	defaultRounds  = 2
	defaultTTL     = 2 * time.Second
	defaultFaults  = 1
	defaultMoves   = 2
	defaultBudget  = 30 * time.Second

	maxClients = 64
	maxRounds  = 1000
	maxRetries = 10
	maxPool    = 1 << 16
	// maxEvents is the largest number of faults, and of time moves, in a schedule: random
	// schedules draw them all beforehand.
	maxEvents = 1 << 20
	// maxTime is the longest lease, wait and skew: see lastYear.
	maxTime = 24 * time.Hour
)

// resolve returns c with its defaults, and its program. The error names the invalid
// field and the reason.
func (c Config) resolve() (Config, workloads.Program, error) {
	if c.Scenario == "" {
		c.Scenario = "contend"
	}
	program, err := workloads.Find(workloads.Explored, c.Scenario)
	if err != nil {
		return c, program, err
	}
	c.fill(program)
	return c, program, c.validate(program)
}

func (c *Config) fill(p workloads.Program) {
	orInt(&c.Clients, cmp.Or(p.Exploration.Clients, defaultClients))
	orInt(&c.Threads, 1)
	orInt(&c.Rounds, defaultRounds)
	orInt(&c.Faults, defaultFaults)
	orInt(&c.Moves, defaultMoves)
	c.Faults, c.Moves = max(0, c.Faults), max(0, c.Moves)
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if leases := p.Exploration.Wait; c.Wait == 0 && leases > 0 {
		c.Wait = max(time.Duration(leases*float64(c.TTL)), time.Second) // some designs round less than a second down to no wait
	}
	chosen := c.Kinds != nil && len(c.Kinds) < len(fault.Explored()) // a replay has all
	if c.Kinds == nil {
		c.Kinds = DefaultKinds()
	}
	if c.Design.Foreign && !chosen {
		c.Kinds = slices.DeleteFunc(slices.Clone(c.Kinds), func(k fault.Kind) bool { return k == fault.Cancel })
	}
	if c.Skew == 0 {
		c.Skew = c.Design.Tolerance + time.Second
	}
	if c.Strategy == "" {
		c.Strategy = Auto
	}
	if c.Budget == 0 && c.Schedules == 0 {
		c.Budget = defaultBudget
	}
}

// options are the options of the clients: each schedule is a run of a program.
func (c *Config) options(p workloads.Program) workloads.Options {
	return p.Fill(workloads.Options{Clients: c.Clients, Keys: max(1, p.Keys), TTL: c.TTL, Wait: c.Wait, Seed: c.Seed})
}

func orInt(field *int, otherwise int) {
	if *field == 0 {
		*field = otherwise
	}
}

func (c *Config) validate(p workloads.Program) error {
	if err := cmp.Or(c.validateCounts(), c.validateTimes()); err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	if c.Design.Open == nil {
		return fmt.Errorf("explore: design %q cannot be opened; hint: take one of the catalogue", c.Design.Name)
	}
	if err := c.Design.Explorable(); err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	strategies := []string{string(Auto), string(Exhaustive), string(Random), string(PCT)}
	if !slices.Contains(strategies, string(c.Strategy)) {
		return fmt.Errorf("explore: %w", suggest.Unknown("strategy", string(c.Strategy), strategies))
	}
	if err := c.validateGuard(); err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	if c.Design.Foreign && slices.Contains(c.Kinds, fault.Cancel) {
		return fmt.Errorf("explore: fault %s: contexts do not end the calls of a program of its own, as design %s is; hint: leave it out", fault.Cancel, c.Design.Name)
	}
	if c.Design.Foreign && c.Threads > 1 {
		return fmt.Errorf("explore: threads %d: design %s is a program of its own, and has one client in each process; hint: --threads 1", c.Threads, c.Design.Name)
	}
	for _, kind := range c.Kinds {
		if !slices.Contains(fault.Explored(), kind) {
			return fmt.Errorf("explore: %w", suggest.Unknown("fault", string(kind), fault.Names(fault.Explored())))
		}
	}
	if p.Exploration.Succeeds && c.Threads > 1 {
		return fmt.Errorf("explore: threads %d: scenario %s has one client in each process; hint: --threads 1", c.Threads, p.Name)
	}
	return c.lacks(p)
}

// lacks returns an error if the design declares that it lacks an ability that p needs.
func (c *Config) lacks(p workloads.Program) error {
	for _, need := range p.Needs {
		lacks := map[workloads.Ability]bool{
			workloads.Nests:  c.Design.Reacquire == design.Refused,
			workloads.Renews: !c.Design.Renews && !c.Design.RenewsUnseen,
			// Libraries subtract some milliseconds from a lease for the drift of clocks.
			workloads.AnyLease: c.Design.LeaseUnit != 0 || c.Design.EqualLeases || c.Design.Foreign,
		}
		if lacks[need] {
			return &LacksError{Scenario: p.Name, Ability: need}
		}
	}
	return nil
}

// A LacksError is the error of exploring a lock in a scenario that needs an ability
// which the lock lacks.
type LacksError struct {
	Scenario string
	Ability  workloads.Ability
}

// Error implements error.
func (e *LacksError) Error() string {
	return fmt.Sprintf("scenario %s needs the ability to %s, which the lock lacks", e.Scenario, e.Ability)
}

func (c *Config) validateCounts() error {
	for _, f := range []struct {
		name          string
		got, min, max int64
	}{
		{"clients", int64(c.Clients), 1, maxClients},
		{"threads", int64(c.Threads), 1, maxClients},
		{"pool", int64(c.Pool), 0, maxPool},
		{"retries", int64(c.Retries), 0, maxRetries},
		{"rounds", int64(c.Rounds), 1, maxRounds},
		{"faults", int64(c.Faults), 0, maxEvents},
		{"moves", int64(c.Moves), 0, maxEvents},
		{"schedules", c.Schedules, 0, math.MaxInt64},
	} {
		switch {
		case f.got < f.min:
			return fmt.Errorf("%s %d: too few; hint: from %d to %d", f.name, f.got, f.min, f.max)
		case f.got > f.max:
			return fmt.Errorf("%s %d: too many; hint: from %d to %d", f.name, f.got, f.min, f.max)
		}
	}
	return nil
}

func (c *Config) validateGuard() error {
	if c.Guard == lockbench.FenceGuard && !c.Design.Fences {
		return fmt.Errorf("guard %s: design %s hands out no fences; hint: guard %s needs none", c.Guard, c.Design.Name, lockbench.CompareGuard)
	}
	return nil
}

func (c *Config) validateTimes() error {
	for _, f := range []struct {
		name     string
		got, min time.Duration
	}{
		{"ttl", c.TTL, time.Millisecond}, {"wait", c.Wait, 0}, {"skew", c.Skew, 0},
	} {
		switch {
		case f.got < f.min:
			return fmt.Errorf("%s %v: too short; hint: from %v to %v", f.name, f.got, f.min, maxTime)
		case f.got > maxTime:
			return fmt.Errorf("%s %v: too long; hint: from %v to %v", f.name, f.got, f.min, maxTime)
		}
	}
	if c.Budget < 0 {
		return fmt.Errorf("budget %v: time does not run backwards; hint: such as 30s", c.Budget)
	}
	return nil
}
