package design

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
)

// A Design is one lock implementation of the catalogue: plain data, with all its declarations in one
// place. A field with a documented zero value may be left out.
type Design struct {
	// Name is "family/variant", stable.
	Name string
	// Definition is what a child process needs, besides the name, to make the design again; empty if
	// the catalogue has the design.
	Definition string
	// Arguments are what gives the design to a command, as words of a shell; empty if its name does.
	Arguments string
	// Summary describes in one sentence how it works.
	Summary string
	// Source names the document or library that the design comes from, by a title that users can
	// read.
	Source string
	// Library is the Go module, "module@version", of a lock that is used unchanged; empty for our own
	// implementations.
	Library string
	// Claims are the guarantees that the design can keep within its documented limits.
	Claims lockbench.Claims
	// Reacquire is the effect of a second Acquire by the holder of a key.
	Reacquire Reacquire
	// Renews reports whether the design renews its holds in the background.
	Renews bool
	// RenewsUnseen reports whether the design may renew holds without calling the Observer, as
	// locks of other authors do.
	RenewsUnseen bool
	// Leaseless reports whether the design has no lease: a grant lasts until its owner gives it up,
	// or until the owner's session ends.
	Leaseless bool
	// Granted returns the lease that is granted if ttl is requested. If it is nil the lease is ttl.
	// See [Design.Lease].
	Granted func(ttl time.Duration) time.Duration
	// LeaseUnit is the unit of leases. A lease that is not a multiple of it is not refused but does
	// harm, see LeaseUnitWhy. Zero permits any lease. A design that rounds leases has Granted
	// instead. See [Design.CanLease].
	LeaseUnit time.Duration
	// LeaseUnitWhy describes the harm of a lease that is not a multiple of LeaseUnit. Empty means
	// that an acquire sets the key, and fails before it sets the lease.
	LeaseUnitWhy string
	// EqualLeases reports whether all leases of an owner must be equal, because a late renewal sets
	// the lease of an earlier hold.
	EqualLeases bool
	// Tolerance is how long the design may keep a crashed owner's key past the granted lease,
	// beyond polling and rounding.
	Tolerance time.Duration
	// Backend is the kind of service that the design locks on; nil is Redis.
	Backend Backend
	// Commands are the design's needs of the service, for [Service.Check] before a run: on Redis,
	// the commands that it sends.
	Commands []string
	// Servers is the number of independent servers on which the design locks; zero is one.
	Servers int
	// Foreign reports whether each process is a program of its own, see [Program]. Contexts do not end
	// its calls.
	Foreign bool
	// Owners is the largest number of owners that a process can have; zero is no limit.
	Owners int
	// OwnStamps reports whether the calls are timed by the clock of the program, see [Stamped].
	OwnStamps bool
	// Fences reports whether the design's leases implement [lockbench.Fencer].
	Fences bool
	// LiveOnly is the reason why the design cannot be explored in virtual time; empty if it can, or if
	// the reason follows from Servers or Backend. See [Design.Explorable].
	LiveOnly string
	// Control is the kind of control that this is, empty for a lock.
	Control Control
	// Open starts one process of the design, with its identity, connection pool, registry and
	// background work.
	Open func(Environment) (Process, error)
}

// ServerCount returns the number of servers on which the design locks, at least one.
func (d Design) ServerCount() int { return max(1, d.Servers) }

// OnCluster reports whether the design can run on a Redis Cluster: WATCH needs a connection to the
// node of its key, which clients of a cluster do not have.
func (d Design) OnCluster() bool { return OnCluster(d.Commands) }

// OnCluster is [Design.OnCluster] of a design with these commands.
func OnCluster(commands []string) bool {
	return !slices.ContainsFunc(commands, func(c string) bool { return strings.EqualFold(c, "WATCH") })
}

// Lease returns the lease that is granted if ttl is requested.
func (d Design) Lease(ttl time.Duration) time.Duration {
	if d.Granted == nil {
		return ttl
	}
	return d.Granted(ttl)
}

// CanLease returns an error with the reason if a lease of ttl must not be requested.
func (d Design) CanLease(ttl time.Duration) error {
	if d.LeaseUnit == 0 || ttl%d.LeaseUnit == 0 {
		return nil
	}
	whole := max(d.LeaseUnit, ttl.Round(d.LeaseUnit))
	return fmt.Errorf("design %s: its leases are multiples of %v; one of %v %s; hint: a lease of %v, or to see it: lockbench explore %s --scenario contend --ttl %v",
		d.Name, d.LeaseUnit, ttl, cmp.Or(d.LeaseUnitWhy, "fails half way, and leaves the key locked for ever"), whole, d.Name, ttl)
}

// Impossible returns the conditions that no fault brings about on the design's service, although its
// faults bring them about on others: scripts are Redis's.
func (d Design) Impossible() lockbench.Conditions {
	if d.Backend != nil {
		return lockbench.ScriptFlush
	}
	return 0
}

// Explorable returns an error with the reason if the design cannot be explored in virtual time.
func (d Design) Explorable() error {
	why := d.LiveOnly
	if d.ServerCount() > 1 {
		why = fmt.Sprintf("it locks on %d servers, and explore has one", d.ServerCount())
	}
	if why == "" && d.Backend != nil {
		why = "it does not stand on Redis, which explore has"
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("design %s cannot be explored: %s; hint: lockbench run --design %s", d.Name, why, d.Name)
}

// A Process is the state that a design has once in each operating-system process. Its methods are
// safe for concurrent use.
type Process interface {
	// Locker returns a new owner: a thread of the process. The owner reports its attempts and its
	// renewals to o.
	Locker(o Observer) lockbench.Locker
	// Close ends background work, waits for it and closes the connections. Holds stay on the
	// server.
	Close() error
}

// A Program is a [Process] that is a program of its own. Faults affect it as any program: it is stopped,
// and it is killed.
type Program interface {
	Process
	// Mortal is about the end of the program by itself: Err returns nil if it was killed or closed.
	Mortal
	Suspender
	// Ready returns when the program can be used, or an error with the reason why it cannot.
	Ready(ctx context.Context) error
	// Kill ends the program at once.
	Kill() error
}

// A Stamped is a [Process] that times its requests by a clock of its own, beside the driver.
type Stamped interface {
	Process
	// Widths returns by how much the driver's times of recent requests are wider, and whether these
	// are the times of the history.
	Widths() (driver bool, widths []time.Duration)
}

// NewProcess returns a process with these two methods.
func NewProcess(locker func(Observer) lockbench.Locker, close func() error) Process {
	return process{locker, close}
}

type process struct {
	locker func(Observer) lockbench.Locker
	close  func() error
}

func (p process) Locker(o Observer) lockbench.Locker { return p.locker(o) }

func (p process) Close() error { return p.close() }

// Reacquire is the effect of a second Acquire by a Locker that holds the key.
type Reacquire string

// The effects of a second Acquire by the holder.
const (
	Refused   Reacquire = "refused"   // as if by another owner
	Nested    Reacquire = "nested"    // counted; as many releases free it
	Refreshed Reacquire = "refreshed" // the same hold, its lease begun anew; not counted
)

// An Observer receives events that cannot be seen from outside a call. Implementations are safe for
// concurrent use.
type Observer interface {
	// Attempt is called at the start of each attempt to acquire key (the key as
	// passed to Acquire), before any clock is read or request sent. It returns
	// that instant, real and monotonic: the start of validity if it succeeds.
	Attempt(key string) time.Time
	// Renewing is called before a renewal of key in the background is sent. The function that it
	// returns is called with the result: the granted lease, or an error (which wraps
	// lockbench.ErrNotHeld if the lock was lost).
	Renewing(key string) func(granted time.Duration, err error)
	// Renewals is called when a program has granted key, if it reports renewals when they are over. The
	// function renewed is called with each: when it was sent, by the program's clock, or the zero time,
	// and its result, as for Renewing. The function end is called when the owner has given the hold up;
	// with none, no renewal under way can have an effect.
	Renewals(key string) (renewed func(from time.Time, granted time.Duration, err error), end func(none bool))
	// Ran is called when a program has answered a request of the owner, with times between which
	// the request ran by the program's own clock. Both lie within the call of the lock.
	Ran(from, to time.Time)
}

// Blind is an Observer that ignores everything.
var Blind Observer = blind{}

type blind struct{}

func (blind) Attempt(string) time.Time { return time.Now() }

func (blind) Ran(time.Time, time.Time) {}

func (blind) Renewing(string) func(time.Duration, error) {
	return func(time.Duration, error) {}
}

func (blind) Renewals(string) (func(time.Time, time.Duration, error), func(bool)) {
	return func(time.Time, time.Duration, error) {}, func(bool) {}
}

// A Control is a baseline that live runs compare locks with. It claims nothing, and never fails a
// run.
type Control string

// The controls.
const (
	NoLock     Control = "no-lock" // the same work without mutual exclusion
	OneRequest Control = "atomic"  // the same work, each step in one request; Open's lockers are not used
)
