package locktest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/standstill"
)

// The variables that Run and Try look at beside those of Explore.
const (
	ttlVariable     = "LOCKBENCH_TTL"
	historyVariable = "LOCKBENCH_HISTORY"
)

// usualTTL is the lease asked for, unless an option says otherwise: what locks that
// count whole seconds can give.
const usualTTL = time.Second

// usualPatience is how long a call may take.
const usualPatience = 5 * time.Second

// An Option changes how [Run] and [Try] test a lock. The environment, where it says
// something, has the last word.
type Option func(*trialSettings)

// trialSettings are what the options and the environment say.
type trialSettings struct {
	name      string
	ttl       time.Duration
	tolerance time.Duration
	patience  time.Duration
	think     time.Duration // before each call: in virtual time no other passes there, and stamps tie
	seed      uint64
	claims    []string // terms of the options
	variable  string   // those of the environment
	histories string   // a folder; empty is to keep what shows a failure, in a temporary one
	short     bool
	cases     []testCase       // those that are performed
	renews    bool             // declared
	session   bool             // declared
	clock     standstill.Clock // by which standstills of looks are seen; nil is the machine's
}

// WithTTL has leases of ttl asked for, and a few times as long; 1 s if it is not
// said. A lock that grants no lease as short needs more. The test takes about six
// times as long.
func WithTTL(ttl time.Duration) Option { return func(s *trialSettings) { s.ttl = ttl } }

// WithTolerance says for how long beyond a lease the lock itself may keep others out,
// because it rounds up or waits for clocks that differ. 1 s is allowed in any case, and 10 s
// may be said at most. Run prints it.
func WithTolerance(d time.Duration) Option { return func(s *trialSettings) { s.tolerance = d } }

// mostTolerance bounds what a lock may declare: more would hide that a key never comes free.
const mostTolerance = 10 * time.Second

// WithRenewal declares that the lock renews its leases by itself, until its Locker, an [io.Closer], is
// closed. Without it a first look at the lock decides. A lock that is declared so and whose holds end
// with their leases is an error.
func WithRenewal() Option { return func(s *trialSettings) { s.renews = true } }

// WithSession declares that the lock has no lease: what it grants lasts until it is released, or its owner's
// session ends, as closing its Locker, an [io.Closer], does. Leases are not judged then, and a key has to come
// free when its owner's session has ended. A lock that is declared so and whose holds end with the time asked
// for is an error.
func WithSession() Option { return func(s *trialSettings) { s.session = true } }

// WithPatience says how long a call of the lock may take, beside what it is told to
// wait for its turn, until its context ends; 5 s if it is not said. A call that has
// not returned after once more that time is taken to hang.
func WithPatience(d time.Duration) Option { return func(s *trialSettings) { s.patience = d } }

// WithClaims says what the lock is held to, in terms that [lockbench.Claims.Parse] reads:
// WithClaims("exclusion", "recovery") holds it to these guarantees and to no others,
// WithClaims("+exclusion@outlived", "-lease@cancel") to more and less than by default, which
// is what Explore holds it to. A lock that claims reentrancy is taken to count the acquires
// of its holder.
func WithClaims(terms ...string) Option {
	return func(s *trialSettings) { s.claims = slices.Clone(terms) }
}

// WithSeed decides the instants at which acquires are cancelled, which is all that is
// random; 1 if it is not said.
func WithSeed(seed uint64) Option { return func(s *trialSettings) { s.seed = seed } }

// WithHistories keeps the histories, one per case, in a folder.
func WithHistories(dir string) Option { return func(s *trialSettings) { s.histories = dir } }

// WithShort has less done, and less waited for.
func WithShort() Option { return func(s *trialSettings) { s.short = true } }

func trialSettingsOf(options []Option) (trialSettings, error) {
	s := trialSettings{name: "lock", ttl: usualTTL, patience: usualPatience, seed: 1, cases: testCases}
	for _, option := range options {
		option(&s)
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	if _, err := claimed(abilities{}, s.claims, s.variable); err != nil {
		return s, err
	}
	if s.ttl < time.Millisecond {
		return s, fmt.Errorf("a lease of %v is too short to be tested; hint: a second, or what the lock grants at least", s.ttl)
	}
	if s.tolerance < 0 || s.patience <= 0 {
		return s, fmt.Errorf("a tolerance of %v and a patience of %v make no sense; hint: leave the options away", s.tolerance, s.patience)
	}
	if s.tolerance > mostTolerance {
		return s, fmt.Errorf("a tolerance of %v is more than %v, and would hide that a key does not come free; hint: what the lock rounds up or waits for at most", s.tolerance, mostTolerance)
	}
	if s.session && s.renews {
		return s, errors.New("the lock is declared to have no lease and to renew its leases; hint: WithSession alone where what it grants ends with its owner's session")
	}
	return s, nil
}

// declared says what the lock is declared to be.
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
	return all
}

// environment reads what the environment says. Its error names the variable.
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
	}
	return nil
}
