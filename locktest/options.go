package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/standstill"
)

// The variables that only Run and Try read, beside those of Explore.
const (
	ttlVariable     = "LOCKBENCH_TTL"
	historyVariable = "LOCKBENCH_HISTORY"
)

// usualTTL is the lease asked for, unless an option says otherwise. Locks that count whole seconds
// can grant it, too.
const usualTTL = time.Second

// usualRetries is the number of times that go-redis sends a command again by default.
const usualRetries = 3

// usualPatience is the time that a call may take.
const usualPatience = 5 * time.Second

// An Option changes how [Run], [Try] and [Explore] test a lock. It is for Run and Try unless it
// says otherwise. Settings of the environment override options.
type Option func(*trialSettings)

// trialSettings are the settings from the options and the environment.
type trialSettings struct {
	name      string
	ttl       time.Duration
	tolerance time.Duration
	patience  time.Duration
	think     time.Duration // before each call: in virtual time, tries without it would get the same stamp
	seed      uint64
	claims    []string // terms of the options
	variable  string   // terms of the environment
	prefix    string   // of the names of keys
	histories string   // a folder; empty keeps the histories of failures in a temporary one
	short     bool
	cases     []testCase    // the cases to perform
	renews    bool          // declared
	session   bool          // declared
	unit      time.Duration // declared: leases are multiples of it; zero is any
	wakes     time.Duration // declared: how soon waiters ask again for a key that became free; zero if not declared
	waiting   []string      // the declarations about waiting
	timeout   time.Duration // declared: the time after which the lock gives a try up; zero if it does not
	servers   []func(context.Context) error
	said      []said           // the given times, to be checked against their bounds
	wrong     error            // any other error of the settings
	clock     standstill.Clock // tells the standstills of looks; nil is the machine's
	explored  exploration
	only      onlyFor
}

// exploration has the settings of Explore alone.
type exploration struct {
	budget  budget // zero if not given
	retries int    // how often Env.Redis sends a command again in the last scenario
}

// onlyFor lists the given options that only Run and Try take, and those that only Explore takes.
type onlyFor struct{ run, explore []string }

// forRun makes an option that Explore does not take.
func forRun(name string, set func(*trialSettings)) Option {
	return func(s *trialSettings) {
		s.only.run = append(s.only.run, name)
		set(s)
	}
}

// forExplore makes an option that Run and Try do not take.
func forExplore(name string, set func(*trialSettings)) Option {
	return func(s *trialSettings) {
		s.only.explore = append(s.only.explore, name)
		set(s)
	}
}

// WithBudget sets how long Explore searches, all scenarios together, from 1 ms to an hour. The
// default is 10 s, and 2 s with -short. The findings then depend on the speed of the machine: see
// [WithSchedules].
func WithBudget(d time.Duration) Option {
	return forExplore("WithBudget", func(s *trialSettings) {
		s.explored.budget = budget{time: s.say("a budget", d, budgetBound)}
	})
}

// WithSchedules sets the number of schedules that Explore runs, all scenarios together and
// regardless of time, so that it is the same on every machine. Each scenario runs one schedule at
// least.
func WithSchedules(n int64) Option {
	return forExplore("WithSchedules", func(s *trialSettings) {
		s.explored.budget = budget{schedules: n}
		if n < 1 {
			s.wrong = fmt.Errorf("%d schedules are none; hint: 20000, or leave WithSchedules away", n)
		}
	})
}

// mostRetries bounds how often a client may send a command again.
const mostRetries = 10

// WithClientRetries sets how often Env.Redis sends a command again if its connection broke before
// the answer: up to 10 times, 0 for never. Explore runs most scenarios with a client that never
// does so, and one with a client that does so 3 times, as go-redis does by default. Only the latter
// finds a lock that refuses its own key when a command is sent again.
func WithClientRetries(n int) Option {
	return forExplore("WithClientRetries", func(s *trialSettings) {
		s.explored.retries = n
		if n < 0 || n > mostRetries {
			s.wrong = fmt.Errorf("a client that sends commands again %d times; hint: 0 to %d, or leave WithClientRetries away, which is %d", n, mostRetries, usualRetries)
		}
	})
}

// WithTTL sets the lease to ask for; some leases are a few times as long. The default is 1 s, the
// maximum an hour. A lock that cannot grant so short a lease needs more. The test takes about six
// times as long.
func WithTTL(ttl time.Duration) Option {
	return forRun("WithTTL", func(s *trialSettings) { s.ttl = s.say("a lease", ttl, ttlBound) })
}

// WithTolerance declares how long beyond a lease the lock itself may keep others out, because it
// rounds up or waits for clocks that differ. 1 s is allowed in any case, the maximum is 10 s. Run
// prints it.
func WithTolerance(d time.Duration) Option {
	return forRun("WithTolerance", func(s *trialSettings) { s.tolerance = s.say("a tolerance", d, toleranceBound) })
}

// mostTolerance bounds the tolerance that a lock may declare: more would hide that a key never
// comes free.
const mostTolerance = 10 * time.Second

// mostPolling bounds the interval between the tries of a waiter, mostPatience the time that a call
// may take.
const (
	mostPolling  = 10 * time.Second
	mostPatience = 10 * time.Minute
)

// wakingBound is the time within which a woken waiter asks again: far longer than a round trip to a
// server.
const wakingBound = 100 * time.Millisecond

// WithRenewal declares that the lock renews its leases by itself, until its Locker, an [io.Closer],
// is closed. Without it a first look at the lock decides. It is an error if holds of the lock end
// with their leases.
func WithRenewal() Option {
	return forRun("WithRenewal", func(s *trialSettings) { s.renews = true })
}

// WithSession declares that the lock has no lease: a hold lasts until it is released, or until its
// owner's session ends, as closing its Locker, an [io.Closer], does. Leases are not judged then,
// and a key has to come free when its owner's session has ended. It is an error if holds of the
// lock end with the time asked for.
func WithSession() Option {
	return forRun("WithSession", func(s *trialSettings) { s.session = true })
}

// WithLeaseUnit declares that the lock's leases are multiples of unit, from 1 µs to 10 s, and the
// test asks for no others. Without it the test asks for leases of any length, such as 2.9 ms. Some
// clients silently cut them to whole milliseconds or seconds, and the server then frees the key
// before its owner's lease is over. A lock that rounds them up needs no such option.
func WithLeaseUnit(unit time.Duration) Option {
	return func(s *trialSettings) { s.unit = s.say("a unit of leases", unit, unitBound) }
}

// WithWaking declares that the lock wakes its waiters: a waiter ([lockbench.Options]) asks again
// within 100 ms after a key becomes free, far longer than a round trip takes, and is granted it
// unless another was first. The second and the tolerance that are allowed in any case come on top.
func WithWaking() Option {
	return forRun("WithWaking", func(s *trialSettings) {
		s.wakes, s.waiting = wakingBound, append(s.waiting, fmt.Sprintf("wakes its waiters (within %v)", wakingBound))
	})
}

// WithPolling declares that a waiter of the lock asks again at least every d: within d after a key
// becomes free it is granted it, unless another was first. The second and the tolerance that are
// allowed in any case come on top. The maximum is 10 s. It also declares a lock that wakes its
// waiters and polls in case the message gets lost.
func WithPolling(d time.Duration) Option {
	return forRun("WithPolling", func(s *trialSettings) {
		s.wakes, s.waiting = s.say("a polling interval", d, pollingBound), append(s.waiting, fmt.Sprintf("polls every %v", d))
	})
}

// WithTimeout declares that the lock, or its client, gives a try up by itself if the server has not
// answered for d, from 1 ms to 10 s. An Acquire without a wait that lasted for d, and returned an
// error that wraps both [lockbench.ErrNotAcquired] and [context.DeadlineExceeded], is then no
// refusal. Without this option it has to last for 20 ms.
func WithTimeout(d time.Duration) Option {
	return forRun("WithTimeout", func(s *trialSettings) { s.timeout = s.say("a timeout", d, timeoutBound) })
}

// WithServer makes the test watch the lock's server, or one of them. ping sends it a cheap request
// on a connection of its own, and returns when it has answered, or ctx is over. One goroutine per
// test case calls ping repeatedly. If an answer takes longer than 20 ms, or a quarter of the lease,
// the server stood still: no refusal of that time is held against the lock.
func WithServer(ping func(ctx context.Context) error) Option {
	return forRun("WithServer", func(s *trialSettings) { s.servers = append(s.servers, ping) })
}

// WithPatience sets the time that a call of the lock may take until its context ends, in addition
// to the wait that it is told; the default is 5 s, the maximum 10 minutes. A call that has not
// returned after twice that time counts as hanging. Run prints it.
func WithPatience(d time.Duration) Option {
	return forRun("WithPatience", func(s *trialSettings) { s.patience = s.say("a patience", d, patienceBound) })
}

// WithClaims sets the claims that the lock is held to, in terms that [lockbench.Claims.Parse]
// reads: WithClaims("exclusion", "recovery") holds it to these guarantees and to no others,
// WithClaims("+exclusion@outlived", "-lease@cancel") adds to the defaults and takes from them.
// Explore takes this option, too. A lock that claims reentrancy is taken to count the acquires of
// its holder.
func WithClaims(terms ...string) Option {
	return func(s *trialSettings) { s.claims = slices.Clone(terms) }
}

// WithSeed decides the instants at which acquires are cancelled, the only random choice; the
// default is 1.
func WithSeed(seed uint64) Option { return func(s *trialSettings) { s.seed = seed } }

// WithKeyPrefix puts a prefix before the name of every key, for users of the service that may touch
// no others. The rest of the name is one that no other run uses.
func WithKeyPrefix(prefix string) Option {
	return forRun("WithKeyPrefix", func(s *trialSettings) { s.prefix = prefix })
}

// WithHistories keeps the histories, one per case, in a folder.
func WithHistories(dir string) Option {
	return forRun("WithHistories", func(s *trialSettings) { s.histories = dir })
}

// WithShort makes the test do less, and wait less.
func WithShort() Option {
	return forRun("WithShort", func(s *trialSettings) { s.short = true })
}

// optionsOf returns the settings of the options, for Run, Try and Explore.
func optionsOf(options []Option) (trialSettings, error) {
	s := trialSettings{
		name: "lock", ttl: usualTTL, patience: usualPatience, seed: 1, cases: testCases,
		explored: exploration{retries: usualRetries},
	}
	for _, option := range options {
		option(&s)
	}
	return s, s.wrong
}

func trialSettingsOf(options []Option) (trialSettings, error) {
	s, err := optionsOf(options)
	if err != nil {
		return s, err
	}
	if len(s.only.explore) > 0 {
		return s, fmt.Errorf("%s is for Explore; hint: leave it away in Run and Try", s.only.explore[0])
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	if _, err := claimed(abilities{}, s.claims, s.variable); err != nil {
		return s, err
	}
	s.ttl = whole(s.ttl, s.unit)
	return s, errors.Join(s.checkTimes(), s.checkKinds())
}

// checkKinds returns an error if the declarations contradict each other.
func (s *trialSettings) checkKinds() error {
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
func (s *trialSettings) declared() (all []string) {
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

// environment reads the settings of the environment. Its error names the variable.
func (s *trialSettings) environment() error {
	e, err := environment()
	if err != nil {
		return err
	}
	if os.Getenv(seedVariable) != "" {
		s.seed = e.seed
	}
	s.variable = e.claims
	if dir := os.Getenv(historyVariable); dir != "" {
		s.histories = dir
	}
	if text := os.Getenv(ttlVariable); text != "" {
		if s.ttl, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%s=%q is no time; hint: like 2s", ttlVariable, text)
		}
		s.say(ttlVariable+": a lease", s.ttl, ttlBound)
	}
	return nil
}
