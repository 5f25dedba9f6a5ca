package locktest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// The environment variables, see the package's documentation.
const (
	seedVariable   = "LOCKBENCH_SEED"
	budgetVariable = "LOCKBENCH_BUDGET"
	claimsVariable = "LOCKBENCH_CLAIMS"
	replayVariable = "LOCKBENCH_REPLAY"
)

// settings are the settings of an exploration.
type settings struct {
	seed    uint64
	budget  budget
	claims  string        // terms, empty for none
	replay  string        // a file, empty for none
	option  []string      // terms of the options
	unit    time.Duration // of leases, declared; zero is any
	retries int           // how often Env.Redis sends a command again in the last scenario
}

// exploreSettings returns the settings of Explore from its options and the environment.
func exploreSettings(options []Option) (settings, error) {
	of, err := optionsOf(options)
	if err != nil {
		return settings{}, err
	}
	if len(of.only.run) > 0 {
		return settings{}, fmt.Errorf("%s is for Run and Try; hint: leave it away in Explore", of.only.run[0])
	}
	if err := of.checkTimes(); err != nil {
		return settings{}, err
	}
	s, err := environment()
	if err != nil {
		return s, err
	}
	if os.Getenv(seedVariable) == "" {
		s.seed = of.seed
	}
	if os.Getenv(budgetVariable) == "" && of.explored.budget != (budget{}) {
		s.budget = of.explored.budget
	}
	s.option, s.unit, s.retries = of.claims, of.unit, of.explored.retries
	_, err = claimed(abilities{}, s.option, s.claims)
	return s, err
}

// environment reads the settings. Its error names the variable.
func environment() (settings, error) {
	s := settings{seed: 1, replay: os.Getenv(replayVariable)}
	var err error
	if text := os.Getenv(seedVariable); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return s, fmt.Errorf("%s=%q is no seed; hint: a whole number from 0", seedVariable, text)
		}
	}
	if s.budget, err = parseBudget(os.Getenv(budgetVariable)); err != nil {
		return s, err
	}
	s.claims = os.Getenv(claimsVariable)
	_, err = claimed(abilities{}, nil, s.claims)
	return s, err
}

// A budget limits a search: by time, or by number of schedules.
type budget struct {
	time      time.Duration
	schedules int64
}

func defaultBudget() budget {
	if testing.Testing() && testing.Short() { // Try may be used without a test, which has no flags
		return budget{time: 2 * time.Second}
	}
	return budget{time: 10 * time.Second}
}

func parseBudget(text string) (budget, error) {
	if text == "" {
		return defaultBudget(), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return budget{schedules: n}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return budget{time: d}, nil
	}
	return budget{}, fmt.Errorf("%s=%q is no budget; hint: a time like 30s, or a number of schedules like 20000", budgetVariable, text)
}

// share returns the budget of one search when n are left.
func (b budget) share(n int) budget {
	if b.schedules > 0 {
		return budget{schedules: max(1, b.schedules/int64(n))}
	}
	return budget{time: max(1, b.time/time.Duration(n))}
}

// less returns the rest of the budget after some is used.
func (b budget) less(elapsed time.Duration, schedules int64) budget {
	if b.schedules > 0 {
		return budget{schedules: max(1, b.schedules-schedules)}
	}
	return budget{time: max(1, b.time-elapsed)}
}

// claimed returns the claims that a lock with these abilities is held to: the guarantees that
// a lease on one server can keep, unless the terms of an option, and then of the environment,
// say otherwise.
func claimed(a abilities, option []string, variable string) (lockbench.Claims, error) {
	claims, err := lockbench.LeaseClaims(a.promised()...).Parse(option...)
	if err != nil {
		return claims, err
	}
	if claims, err = claims.Parse(variable); err != nil {
		err = fmt.Errorf("%s=%q: %w", claimsVariable, variable, err)
	}
	return claims, err
}

// read interprets the abilities that a lock showed. If the first release frees a key that was
// acquired twice, the lock may refresh its hold, or count wrongly; the claim decides.
func read(a abilities, claims lockbench.Claims) abilities {
	if a.reacquire == design.Refreshed && slices.Contains(claims.Keeps, lockbench.Reentrancy) {
		a.reacquire = design.Nested
	}
	return a
}
