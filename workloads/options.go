package workloads

import (
	"time"

	"github.com/lockbench/lockbench"
)

// Options are all the parameters of a run. They are plain data. The zero value
// of a field that says so stands for a default; [Options.OrDefaults] fills it in.
//
// The list is long and flat because it is the user's: each field is a flag, a key of run
// files and an entry of a history's header, which have no levels either, and a program
// reads what it needs.
type Options struct {
	// Clients is the number of owners that compete, each in its own goroutine. In an
	// open loop it is how many arrivals can be under way at once.
	Clients int `json:"clients"`
	// Processes is how many processes of the design the clients are spread over, round robin:
	// clients of one process share the design's state of a process. Zero is one per client.
	Processes int `json:"processes"`
	// Keys is the number of locks. Zero is the number that the key choice needs: one per client
	// with own, one per two with pairs, otherwise one.
	Keys int `json:"keys"`
	// KeyChoice is how a client picks its next key, one of [KeyChoices]. Empty is
	// uniform.
	KeyChoice string `json:"key_choice"`
	// Groups is the number of groups that keys, clients and processes are divided into, by their number
	// modulo Groups. A client takes only keys of its group, so that each group can be on a machine of its
	// own. Zero is one.
	Groups int `json:"groups,omitempty"`
	// SharedKeys lets clients of all groups take any key, so that machines compete for the same keys. Groups
	// then divide only clients and processes.
	SharedKeys bool `json:"shared_keys,omitempty"`

	// TTL is the lease asked for.
	TTL time.Duration `json:"ttl_ns"`
	// Wait is how long a client waits for a lock that another holds. Zero is one
	// attempt.
	Wait time.Duration `json:"wait_ns"`
	// Hold is how long a client works while it holds the lock.
	Hold Distribution `json:"hold"`
	// Think is how long a client pauses between two rounds. When it draws 0s
	// after a refusal, the client pauses for about 1 ms all the same, so that
	// refused clients do not spin.
	Think Distribution `json:"think"`

	// Rate makes an open loop: so many arrivals per second, of all clients together, are due
	// whether earlier arrivals are done or not. An idle client takes each arrival; if no client is
	// idle, the arrival begins late. With Stages, Rate is the rate at their start. Zero, without
	// Stages, is a closed loop: a client's next round begins when its last round is done.
	Rate float64 `json:"rate,omitempty"`
	// Arrival is how arrivals follow each other, one of [ArrivalModels]. Empty is Poisson, if
	// there is a rate.
	Arrival string `json:"arrival,omitempty"`
	// Stages let the rate change over the run, and set its duration unless Duration is given.
	Stages Stages `json:"stages,omitempty"`

	// Slow is the share of holds, 0 to 1, that outlive their lease.
	Slow float64 `json:"slow"`
	// SlowFactor is how long a slow hold lasts, in leases granted, above 1. Zero
	// is 1.25. The tolerance a design adds to its leases comes on top.
	SlowFactor float64 `json:"slow_factor"`

	// Stallers is the number of additional clients, four to a key of their own: one works on
	// past its lease each time, and the others come after it. Stallers are judged and never
	// measured. They go on until each late client could be late once, even beyond Duration: see
	// [Options.Stalled].
	Stallers int `json:"stallers,omitempty"`

	// Guard is the protection of the store in the workloads that write, one of lockbench.Guards.
	// Empty is no guard.
	Guard lockbench.Guard `json:"guard,omitempty"`
	// Stock is the number of units for sale per key (oversell). Zero is 1,000,000.
	Stock int64 `json:"stock"`
	// Threshold is the price of a redemption, and a user needs more points than that (redeem).
	// Zero is 10.
	Threshold int64 `json:"threshold"`
	// Points is the number of points that a user has at first, and earns anew when they are used up
	// (redeem). Zero is 100.
	Points int64 `json:"points"`
	// Depth is how often the lock is taken before it is given back (reentrant).
	// Zero is 2.
	Depth int `json:"depth"`
	// NestedTTL is the lease that nested acquires ask for (reentrant); shorter
	// than TTL it shows designs with an inner acquire that cuts the outer lease. Zero is
	// TTL.
	NestedTTL time.Duration `json:"nested_ttl_ns"`
	// Period is how often the job is due (cron). Zero is 500 ms.
	Period time.Duration `json:"period_ns"`
	// Delay is for how long others are kept out after the job (cron). Zero is a
	// fifth of the period.
	Delay time.Duration `json:"delay_ns"`

	// Duration is how long the clients run, warm-up included. Zero is until
	// Operations are done.
	Duration time.Duration `json:"duration_ns"`
	// Operations is how many rounds all clients make together, shared out
	// evenly beforehand; of an open loop, how many arrivals. Zero is no limit.
	Operations int64 `json:"operations"`
	// Warmup is the part at the start that is left out of measurements; it is judged all the
	// same.
	Warmup time.Duration `json:"warmup_ns"`
	// Seed decides every choice the clients make.
	Seed uint64 `json:"seed"`
}

// Defaults returns options that make sense for every workload: a short run with contention and
// without overruns. Fields with defaults that depend on other fields (Processes, Keys,
// NestedTTL, Delay) are left zero, so that those may be changed before [Options.OrDefaults]
// fills them in.
func Defaults() Options {
	o := Options{
		Clients:  8,
		TTL:      2 * time.Second,
		Wait:     time.Second,
		Hold:     Always(time.Millisecond),
		Duration: 5 * time.Second,
		Seed:     1,
	}
	o.fill()
	return o
}

// OrDefaults returns o with the defaults its fields name in place of zeros.
func (o Options) OrDefaults() Options {
	o.fill()
	orDefault(&o.Processes, max(1, o.Clients-o.Clients%o.groups()))
	orDefault(&o.Keys, o.keysWanted())
	orDefault(&o.NestedTTL, o.TTL)
	orDefault(&o.Delay, o.Period/5)
	if o.OpenLoop() {
		orDefault(&o.Arrival, Poisson)
		orDefault(&o.Duration, o.Stages.Length())
	}
	return o
}

// OpenLoop reports whether rounds begin by a timetable, not when clients are ready.
func (o Options) OpenLoop() bool { return o.Rate != 0 || len(o.Stages) > 0 }

// fill fills in the defaults that depend on no other field.
func (o *Options) fill() {
	orDefault(&o.KeyChoice, Uniform)
	orDefault(&o.SlowFactor, 1.25)
	orDefault(&o.Stock, 1_000_000)
	orDefault(&o.Threshold, 10)
	orDefault(&o.Points, 100)
	orDefault(&o.Depth, 2)
	orDefault(&o.Period, 500*time.Millisecond)
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// keysWanted is how many keys the key choice asks for.
func (o Options) keysWanted() int {
	switch o.KeyChoice {
	case Own:
		return o.Clients
	case Pairs:
		return (o.Clients + 1) / 2
	}
	return o.keyGroups()
}

// groups returns the number of groups.
func (o *Options) groups() int { return max(1, o.Groups) }

// keyGroups returns the number of groups of keys that have clients of their own.
func (o *Options) keyGroups() int {
	if o.SharedKeys {
		return 1
	}
	return o.groups()
}

// group returns the group of a key, client or process, by its number. With SharedKeys the group of a key only tells
// who writes its first record.
func (o *Options) group(number int) int { return number % o.groups() }

// stallLease is the longest lease that stallers ask for. Even a short run with long leases must
// see a hold outlive its lease.
const stallLease = 2 * time.Second

// Stalled returns the options of the run of o's Stallers, and false if there are none. The
// defaults of o must be filled in. One client per key stalls, see [Client.Slow]; the others work
// for a small part of the lease, so that some are done before the late one writes.
func (o Options) Stalled() (Options, bool) {
	// A late client works for a quarter past its lease. The third client after it still holds
	// the key when the late one is done.
	const together, hold, think = 4, 10, 100
	s := o
	s.Clients, s.Keys, s.KeyChoice = o.Stallers, (o.Stallers+together-1)/together, Own
	if o.Groups > 1 && o.Stallers > 0 {
		s.Groups = min(o.Groups, s.Keys)
		if o.SharedKeys {
			s.Groups = min(o.Groups, s.Clients)
		}
	}
	processes := max(s.groups(), o.Stallers*o.Processes/o.Clients)
	s.Processes = processes - processes%s.groups()
	s.TTL, s.NestedTTL = min(o.TTL, stallLease), min(o.NestedTTL, stallLease)
	s.Slow, s.Hold, s.Think = 0, Always(s.TTL/hold), Always(s.TTL/think)
	s.Rate, s.Arrival, s.Stages, s.Operations = 0, "", nil, 0
	return s, o.Stallers > 0
}

// overruns reports whether some holds outlive their lease.
func (o *Options) overruns() bool { return o.Slow > 0 || o.Stallers > 0 }

// contended reports whether clients meet on a key at all: with a client for each group of keys none do.
func (o *Options) contended() bool { return o.Clients > o.keyGroups() && o.KeyChoice != Own }

// slowHold is how long a slow hold lasts when ttl was granted.
func (o *Options) slowHold(ttl time.Duration) time.Duration {
	return time.Duration(o.SlowFactor * float64(ttl))
}
