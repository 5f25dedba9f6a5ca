package explore

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/suggest"
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
)

// resolve returns c with its defaults, and its scenario. The error names the field
// that cannot be, and why.
func (c Config) resolve() (Config, Scenario, error) {
	if c.Scenario == "" {
		c.Scenario = "contend"
	}
	scenario, err := FindScenario(c.Scenario)
	if err != nil {
		return c, scenario, err
	}
	c.fill(scenario)
	return c, scenario, c.validate(scenario)
}

func (c *Config) fill(s Scenario) {
	orInt(&c.Clients, defaultClients)
	orInt(&c.Threads, 1)
	orInt(&c.Rounds, defaultRounds)
	orInt(&c.Faults, defaultFaults)
	orInt(&c.Moves, defaultMoves)
	c.Faults, c.Moves = max(0, c.Faults), max(0, c.Moves)
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.Wait == 0 && s.Waits {
		c.Wait = max(c.TTL/2, time.Second) // some designs take less than a second for none
	}
	if c.Kinds == nil {
		c.Kinds = DefaultKinds()
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

func orInt(field *int, otherwise int) {
	if *field == 0 {
		*field = otherwise
	}
}

func (c *Config) validate(s Scenario) error {
	for _, f := range []struct {
		name          string
		got, min, max int64
	}{
		{"clients", int64(c.Clients), 1, maxClients},
		{"threads", int64(c.Threads), 1, maxClients},
		{"pool", int64(c.Pool), 0, math.MaxInt32},
		{"rounds", int64(c.Rounds), 1, maxRounds},
		{"schedules", c.Schedules, 0, math.MaxInt64},
		{"TTL (ms)", c.TTL.Milliseconds(), 1, math.MaxInt64},
		{"wait", int64(c.Wait), 0, math.MaxInt64},
		{"budget", int64(c.Budget), 0, math.MaxInt64},
		{"skew", int64(c.Skew), 0, math.MaxInt64},
	} {
		if f.got < f.min || f.got > f.max {
			return fmt.Errorf("explore: %s %d; hint: from %d to %d", f.name, f.got, f.min, f.max)
		}
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
	for _, kind := range c.Kinds {
		if !slices.Contains(FaultKinds(), kind) {
			return fmt.Errorf("explore: %w", suggest.Unknown("fault", string(kind), kindNames(FaultKinds())))
		}
	}
	if slices.Contains(s.Needs, NeedsNest) && c.Design.Reacquire == design.Refused {
		return &LacksError{Scenario: s.Name, Ability: NeedsNest}
	}
	return nil
}

func kindNames(kinds []FaultKind) (names []string) {
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

func kindSet(kinds []FaultKind) map[FaultKind]bool {
	set := map[FaultKind]bool{}
	for _, k := range kinds {
		set[k] = true
	}
	return set
}
