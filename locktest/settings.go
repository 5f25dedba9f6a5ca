package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/results"
)

// The environment variables, see the package's documentation.
const (
	seedVariable    = "LOCKBENCH_SEED"
	claimsVariable  = "LOCKBENCH_CLAIMS"
	ttlVariable     = "LOCKBENCH_TTL"
	historyVariable = "LOCKBENCH_HISTORY"
	budgetVariable  = "LOCKBENCH_BUDGET"
	replayVariable  = "LOCKBENCH_REPLAY"
)

// settings are the settings of every test, from the options and the environment.
type settings struct {
	seed     uint64
	claims   []string      // terms of the options
	variable string        // terms of the environment
	unit     time.Duration // declared: leases are multiples of it; zero is any
	said     []said        // the given times, to be checked against their bounds
	required bool          // claims fail that a slow machine leaves untested
	// accepted are the breaks that do not fail the test, and unreadable is the error of their file.
	accepted   []results.Acceptance
	unreadable error
}

// runSettings are the settings of a test in real time.
type runSettings struct {
	settings
	name      string
	ttl       time.Duration
	tolerance time.Duration
	patience  time.Duration
	prefix    string // of the names of keys
	histories string // a folder; empty keeps the histories of failures in a temporary one
	short     bool
	cases     []testCase    // the cases to perform
	renews    bool          // declared
	session   bool          // declared
	wakes     time.Duration // declared: how soon waiters ask again for a key that became free; zero if not declared
	waiting   []string      // the declarations about waiting
	timeout   time.Duration // declared: the time after which the lock gives a try up; zero if it does not
	servers   []func(context.Context) error
	clock     standstill.Clock // tells the standstills of looks; nil is the machine's
}

// exploreSettings are the settings of a test in virtual time.
type exploreSettings struct {
	settings
	budget  budget
	retries int // how often Env.Redis sends a command again in the last scenario
	// successor means that a process may have the name of a dead one.
	successor bool
	replay    string // a file of a schedule, empty for none
	wrong     error  // of an option that is no time
}

// usualTTL is the lease asked for, unless an option says otherwise. Locks that count whole seconds
// can grant it, too.
const usualTTL = time.Second

// usualRetries is the number of times that go-redis sends a command again by default.
const usualRetries = 3

// usualPatience is the time that a call may take.
const usualPatience = 5 * time.Second

// newRunSettings returns the settings from the options and the environment.
func newRunSettings(options []RunOption) (runSettings, error) {
	s := runSettings{settings: settings{seed: 1}, name: "lock", ttl: usualTTL, patience: usualPatience, cases: testCases}
	for _, o := range options {
		o.setRun(&s)
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	s.ttl = roundUp(s.ttl, s.unit)
	return s, errors.Join(s.checkTimes(), s.checkKinds())
}

// newExploreSettings returns the settings from the options and the environment.
func newExploreSettings(options []ExploreOption) (exploreSettings, error) {
	s := exploreSettings{settings: settings{seed: 1}, budget: defaultBudget(), retries: usualRetries}
	for _, o := range options {
		o.setExplore(&s)
	}
	if s.wrong != nil {
		return s, s.wrong
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	return s, s.checkTimes()
}

// environment reads the variables of every test. Its error names the variable.
func (s *settings) environment() (err error) {
	if text := os.Getenv(seedVariable); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("%s=%q is no seed; hint: a whole number from 0", seedVariable, text)
		}
	}
	s.variable = os.Getenv(claimsVariable)
	_, err = s.claimed(abilities{})
	return errors.Join(s.unreadable, err)
}

// environment reads the variables of a test in real time.
func (s *runSettings) environment() (err error) {
	if dir := os.Getenv(historyVariable); dir != "" {
		s.histories = dir
	}
	if text := os.Getenv(ttlVariable); text != "" {
		if s.ttl, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%s=%q is no time; hint: like 2s", ttlVariable, text)
		}
		s.say(ttlVariable+": a lease", s.ttl, ttlBound)
	}
	return s.settings.environment()
}

// environment reads the variables of a test in virtual time.
func (s *exploreSettings) environment() (err error) {
	s.replay = os.Getenv(replayVariable)
	if text := os.Getenv(budgetVariable); text != "" {
		if s.budget, err = parseBudget(text); err != nil {
			return err
		}
	}
	return s.settings.environment()
}

// checkKinds returns an error if the declarations contradict each other.
func (s *runSettings) checkKinds() error {
	if s.session && s.renews {
		return errors.New("the lock is declared to have no lease and to renew its leases; hint: WithSession alone where what it grants ends with its owner's session")
	}
	if len(s.waiting) > 1 {
		return fmt.Errorf("the waiters of the lock are declared in %d ways: %s; hint: one of them, WithPolling where a waiter that is woken polls, too", len(s.waiting), strings.Join(s.waiting, ", "))
	}
	for _, ping := range s.servers {
		if ping == nil {
			return errors.New("WithServer was given nil, which asks no server; hint: a function that sends a PING, or leave it away")
		}
	}
	return nil
}

// declared lists the declarations about the lock.
func (s *runSettings) declared() (all []string) {
	if s.tolerance > 0 {
		all = append(all, fmt.Sprintf("a tolerance of %v", s.tolerance))
	}
	if s.renews {
		all = append(all, "renews its leases")
	}
	if s.session {
		all = append(all, "no lease but a session")
	}
	if s.unit > 0 {
		all = append(all, fmt.Sprintf("leases that are multiples of %v", s.unit))
	}
	all = append(all, s.waiting...)
	if s.timeout > 0 {
		all = append(all, fmt.Sprintf("gives a try up after %v", s.timeout))
	}
	if s.patience != usualPatience {
		all = append(all, fmt.Sprintf("a call takes up to %v", s.patience))
	}
	return all
}

// A budget limits a search: by time, or by number of schedules.
type budget struct {
	time      time.Duration
	schedules int64
}

func defaultBudget() budget {
	if testing.Short() {
		return budget{time: 2 * time.Second}
	}
	return budget{time: 10 * time.Second}
}

func parseBudget(text string) (budget, error) {
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

// atLeast returns the larger one of two budgets of the same kind.
func (b budget) atLeast(other budget) budget {
	return budget{time: max(b.time, other.time), schedules: max(b.schedules, other.schedules)}
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
func (s *settings) claimed(a abilities) (lockbench.Claims, error) {
	return s.parsed(lockbench.LeaseClaims(a.promised()...))
}

// claimed returns the claims of [settings], and of a lock that is declared to renew its leases that
// it does.
func (s *runSettings) claimed(a abilities) (lockbench.Claims, error) {
	claims := lockbench.LeaseClaims(a.promised()...)
	if s.renews {
		claims = claims.Renewing()
	}
	return s.parsed(claims)
}

// parsed returns claims as the terms of an option, and then of the environment, change them.
func (s *settings) parsed(claims lockbench.Claims) (lockbench.Claims, error) {
	claims, err := claims.Parse(s.claims...)
	if err != nil {
		return claims, err
	}
	if claims, err = claims.Parse(s.variable); err != nil {
		err = fmt.Errorf("%s=%q: %w", claimsVariable, s.variable, err)
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
