package locktest

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A RunOption changes how [Run] and [Try] test a lock. Variables of the environment override it.
type RunOption interface{ setRun(*runSettings) }

// An ExploreOption changes how [Explore] and [Check] test a lock. Variables of the environment
// override it.
type ExploreOption interface{ setExplore(*exploreSettings) }

// An Option is a [RunOption] and an [ExploreOption].
type Option interface {
	RunOption
	ExploreOption
}

type (
	option        func(*settings)
	runOption     func(*runSettings)
	exploreOption func(*exploreSettings)
)

func (o option) setRun(s *runSettings) { o(&s.settings) }

func (o option) setExplore(s *exploreSettings) { o(&s.settings) }

func (o runOption) setRun(s *runSettings) { o(s) }

func (o exploreOption) setExplore(s *exploreSettings) { o(s) }

// WithClaims sets the claims that the lock is held to, in terms that [lockbench.Claims.Parse]
// reads: WithClaims("exclusion", "recovery") holds it to these guarantees and to no others,
// WithClaims("+exclusion@outlived", "-lease@cancel") adds to the defaults and takes from them.
// A lock that claims reentrancy is taken to count the acquires of its holder.
func WithClaims(terms ...string) Option {
	return option(func(s *settings) { s.claims = slices.Clone(terms) })
}

// WithSeed sets the seed of every random choice: in real time of the instants at which acquires are
// cancelled, in virtual time of the schedules. The default is 1.
func WithSeed(seed uint64) Option { return option(func(s *settings) { s.seed = seed }) }

// WithLeaseUnit declares that the lock's leases are multiples of unit, from 1 µs to 10 s, and the
// test asks for no others. Without it the test asks for leases of any length, such as 2.9 ms. Some
// clients silently cut them to whole milliseconds or seconds, and the server then frees the key
// before its owner's lease is over. A lock that rounds them up needs no such option.
func WithLeaseUnit(unit time.Duration) Option {
	return option(func(s *settings) { s.unit = s.say("a unit of leases", unit, unitBound) })
}

// WithTTL sets the lease to ask for; some leases are a few times as long. The default is 1 s, the
// maximum an hour. A lock that cannot grant so short a lease needs more. The test takes about six
// times as long.
func WithTTL(ttl time.Duration) RunOption {
	return runOption(func(s *runSettings) { s.ttl = s.say("a lease", ttl, ttlBound) })
}

// WithTolerance declares how long beyond a lease the lock itself may keep others out, because it
// rounds up or waits for clocks that differ. 1 s is allowed in any case, the maximum is 10 s. Run
// prints it.
func WithTolerance(d time.Duration) RunOption {
	return runOption(func(s *runSettings) { s.tolerance = s.say("a tolerance", d, toleranceBound) })
}

// wakingBound is the time within which a woken waiter asks again: far longer than a round trip to a
// server.
const wakingBound = 100 * time.Millisecond

// WithRenewal declares that the lock renews its leases by itself, until its Locker, an [io.Closer],
// is closed. Without it a first look at the lock decides. It is an error if holds of the lock end
// with their leases. The lock is then held to exclusion@outlived, unless WithClaims takes it away:
// two holds that end later, while neither the machine nor the server stands still, break it.
func WithRenewal() RunOption {
	return runOption(func(s *runSettings) { s.renews = true })
}

// WithSession declares that the lock has no lease: a hold lasts until it is released, or until its
// owner's session ends, as closing its Locker, an [io.Closer], does. Leases are not judged then,
// and a key has to come free when its owner's session has ended. It is an error if holds of the
// lock end with the time asked for.
func WithSession() RunOption {
	return runOption(func(s *runSettings) { s.session = true })
}

// WithWaking declares that the lock wakes its waiters: a waiter ([lockbench.Options]) asks again
// within 100 ms after a key becomes free, far longer than a round trip takes, and is granted it
// unless another was first. The second and the tolerance that are allowed in any case come on top.
func WithWaking() RunOption {
	return runOption(func(s *runSettings) {
		s.wakes, s.waiting = wakingBound, append(s.waiting, fmt.Sprintf("wakes its waiters (within %v)", wakingBound))
	})
}

// WithPolling declares that a waiter of the lock asks again at least every d: within d after a key
// becomes free it is granted it, unless another was first. The second and the tolerance that are
// allowed in any case come on top. The maximum is 10 s. It also declares a lock that wakes its
// waiters and polls in case the message gets lost.
func WithPolling(d time.Duration) RunOption {
	return runOption(func(s *runSettings) {
		s.wakes, s.waiting = s.say("a polling interval", d, pollingBound), append(s.waiting, fmt.Sprintf("polls every %v", d))
	})
}

// WithTimeout declares that the lock, or its client, gives a try up by itself if the server has not
// answered for d, from 1 ms to 10 s. An Acquire without a wait that lasted for d, and returned an
// error that wraps both [lockbench.ErrNotAcquired] and [context.DeadlineExceeded], is then no
// refusal. Without this option it has to last for 20 ms.
func WithTimeout(d time.Duration) RunOption {
	return runOption(func(s *runSettings) { s.timeout = s.say("a timeout", d, timeoutBound) })
}

// WithServer makes the test watch the lock's server, or one of them. ping sends it a cheap request
// on a connection of its own, and returns when it has answered, or ctx is over. One goroutine per
// test case calls ping repeatedly. If an answer takes longer than 20 ms, or a quarter of the lease,
// the server stood still: no refusal of that time is held against the lock.
func WithServer(ping func(ctx context.Context) error) RunOption {
	return runOption(func(s *runSettings) { s.servers = append(s.servers, ping) })
}

// WithPatience sets the time that a call of the lock may take until its context ends, in addition
// to the wait that it is told; the default is 5 s, the maximum 10 minutes. A call that has not
// returned after twice that time counts as hanging. Run prints it.
func WithPatience(d time.Duration) RunOption {
	return runOption(func(s *runSettings) { s.patience = s.say("a patience", d, patienceBound) })
}

// WithKeyPrefix puts a prefix before the name of every key, for users of the service that may touch
// no others. No other run uses the rest of the name.
func WithKeyPrefix(prefix string) RunOption {
	return runOption(func(s *runSettings) { s.prefix = prefix })
}

// WithHistories keeps the histories, one per case, in a folder.
func WithHistories(dir string) RunOption {
	return runOption(func(s *runSettings) { s.histories = dir })
}

// WithShort makes the test do less, and wait less.
func WithShort() RunOption {
	return runOption(func(s *runSettings) { s.short = true })
}

// WithBudget sets how long Explore searches, all scenarios together, from 1 ms to an hour. The
// default is 10 s, and 2 s with -short. The findings then depend on the speed of the machine: see
// [WithSchedules].
func WithBudget(d time.Duration) ExploreOption {
	return exploreOption(func(s *exploreSettings) {
		s.budget = budget{time: s.say("a budget", d, budgetBound)}
	})
}

// WithSchedules sets the number of schedules that Explore runs, all scenarios together and
// regardless of time, so that it is the same on every machine. Each scenario runs one schedule at
// least.
func WithSchedules(n int64) ExploreOption {
	return exploreOption(func(s *exploreSettings) {
		s.budget = budget{schedules: n}
		if n < 1 {
			s.wrong = fmt.Errorf("%d schedules are none; hint: 20000, or leave WithSchedules away", n)
		}
	})
}

// WithRequired makes claims fail that were not tested because the machine is slow. Without it they
// are skipped, with the reason, if others were tested: in Run because the machine or the server
// stood still, in Explore because a slow client makes schedules few.
func WithRequired() Option {
	return option(func(s *settings) { s.required = true })
}

// WithSuccessor declares that a process of the lock's users may have the name of a process that died
// with a key, as a container has that was started again, and explores that, too: a new owner then
// has the [Env.Owner] of a dead one, and comes within its lease. If the lock grants it the key at
// once, the dead owner's lease is not kept (lease@crash), although a command of the dead may still
// be on its way. Without this option names are unique.
func WithSuccessor() ExploreOption {
	return exploreOption(func(s *exploreSettings) { s.successor = true })
}

// mostRetries bounds how often a client may send a command again.
const mostRetries = 10

// WithClientRetries sets how often Env.Redis sends a command again if its connection broke before
// the answer: up to 10 times, 0 for never. Explore runs most scenarios with 0, and one scenario
// with 3, the default of go-redis. Only that scenario finds a lock that refuses its own key when a
// command is sent again.
func WithClientRetries(n int) ExploreOption {
	return exploreOption(func(s *exploreSettings) {
		s.retries = n
		if n < 0 || n > mostRetries {
			s.wrong = fmt.Errorf("a client that sends commands again %d times; hint: 0 to %d, or leave WithClientRetries away, which is %d", n, mostRetries, usualRetries)
		}
	})
}
