package locktest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// The variables of the environment that are looked at, see the package's
// documentation.
const (
	seedVariable   = "LOCKBENCH_SEED"
	budgetVariable = "LOCKBENCH_BUDGET"
	claimsVariable = "LOCKBENCH_CLAIMS"
	replayVariable = "LOCKBENCH_REPLAY"
)

// settings are what the environment says.
type settings struct {
	seed   uint64
	budget budget
	claims claims
	replay string // a file, empty for none
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
	s.claims, err = parseClaims(os.Getenv(claimsVariable))
	return s, err
}

// A budget is what a search may take: a time, or a number of schedules.
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

// share is what one of n that are left may take.
func (b budget) share(n int) budget {
	if b.schedules > 0 {
		return budget{schedules: max(1, b.schedules/int64(n))}
	}
	return budget{time: max(1, b.time/time.Duration(n))}
}

// less is what is left when some is used up.
func (b budget) less(elapsed time.Duration, schedules int64) budget {
	if b.schedules > 0 {
		return budget{schedules: max(1, b.schedules-schedules)}
	}
	return budget{time: max(1, b.time-elapsed)}
}

// claims are what a lock is held to: a list, or changes to what is the default.
type claims struct {
	only, add, drop []lockbench.Guarantee
}

func parseClaims(text string) (claims, error) {
	var c claims
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		g := lockbench.Guarantee(strings.TrimLeft(name, "+-"))
		if !slices.ContainsFunc(lockbench.Guarantees(), func(i lockbench.GuaranteeInfo) bool { return i.Name == g }) {
			return c, fmt.Errorf("%s: %q is no guarantee; hint: %s", claimsVariable, name, strings.Join(guarantees(), ", "))
		}
		switch name[0] {
		case '+':
			c.add = append(c.add, g)
		case '-':
			c.drop = append(c.drop, g)
		default:
			c.only = append(c.only, g)
		}
	}
	return c, nil
}

func guarantees() (names []string) {
	for _, i := range lockbench.Guarantees() {
		names = append(names, string(i.Name))
	}
	return names
}

// of returns what a lock with these abilities is held to.
func (c claims) of(a abilities) []lockbench.Guarantee {
	claimed := c.only
	if claimed == nil {
		claimed = a.claims()
	}
	claimed = slices.Concat(claimed, c.add)
	return slices.DeleteFunc(claimed, func(g lockbench.Guarantee) bool { return slices.Contains(c.drop, g) })
}

// read returns what a lock's looks amount to. One whose first release frees what was
// acquired twice may refresh its hold, or count wrongly; the claim tells.
func (c claims) read(a abilities) abilities {
	counts := slices.Contains(slices.Concat(c.only, c.add), lockbench.Reentrancy)
	if counts && a.reacquire == design.Refreshed {
		a.reacquire = design.Nested
	}
	return a
}
