package design

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// A Design is one lock implementation of the catalogue: plain data, with all its declarations in one
// place. A field with a documented zero value may be left out.
type Design struct {
	// Name is "family/variant", stable.
	Name string
	// Summary describes in one sentence how it works.
	Summary string
	// Source names the document or library it comes from, by a title that users can read.
	Source string
	// Library is the Go module, "module@version", of a lock that is used unchanged; empty for our own
	// implementations.
	Library string
	// Claims are the guarantees that the design can keep within its documented limits.
	Claims lockbench.Claims
	// Reacquire is the effect of a second Acquire by the holder of a key.
	Reacquire Reacquire
	// Renews: the design renews its holds in the background.
	Renews bool
	// RenewsUnseen: it may renew without telling the Observer, as locks of other authors do.
	RenewsUnseen bool
	// Leaseless: it has no lease. A grant lasts until its owner gives it up, or until the owner's
	// session ends.
	Leaseless bool
	// Granted returns the lease that is granted when ttl is asked for; nil means ttl. See
	// [Design.Lease].
	Granted func(ttl time.Duration) time.Duration
	// LeaseUnit is the unit of leases: a lease that is not a multiple does harm instead of being
	// refused. Zero is any lease. A design that rounds leases has Granted instead. See
	// [Design.CanLease].
	LeaseUnit time.Duration
	// LeaseUnitWhy describes the harm of another lease; empty means that an acquire sets the key, and
	// fails before it sets the lease.
	LeaseUnitWhy string
	// EqualLeases: all leases of an owner must be equal, since a late renewal sets the lease of an
	// earlier hold.
	EqualLeases bool
	// Tolerance is the time for which the design may keep a crashed owner's key past the granted
	// lease, beyond polling and rounding.
	Tolerance time.Duration
	// Backend is the kind of service that it locks on; nil is Redis.
	Backend Backend
	// Commands are its needs of the service, for [Service.Check] before a run: on Redis, the commands
	// that it sends.
	Commands []string
	// Servers is the number of independent servers that it locks on; zero is one.
	Servers int
	// Fences: its leases are lockbench.Fencers.
	Fences bool
	// LiveOnly is the reason why the design cannot be explored in virtual time; empty if it can, or if
	// the reason follows from Servers or Backend. See [Design.Explorable].
	LiveOnly string
	// Control is empty for a lock, and else the kind of control that this is.
	Control Control
	// Open starts one process of the design, with its identity, connection pool, registry and
	// background work.
	Open func(Environment) (Process, error)
}

// ServerCount returns the number of servers that the design locks on, at least one.
func (d Design) ServerCount() int { return max(1, d.Servers) }

// Lease returns the lease that is granted when ttl is asked for.
func (d Design) Lease(ttl time.Duration) time.Duration {
	if d.Granted == nil {
		return ttl
	}
	return d.Granted(ttl)
}

// CanLease returns nil if a lease of ttl can be asked for, and else an error with the reason.
func (d Design) CanLease(ttl time.Duration) error {
	if d.LeaseUnit == 0 || ttl%d.LeaseUnit == 0 {
		return nil
	}
	whole := max(d.LeaseUnit, ttl.Round(d.LeaseUnit))
	return fmt.Errorf("design %s: its leases are multiples of %v; one of %v %s; hint: a lease of %v, or to see it: lockbench explore %s --scenario contend --ttl %v",
		d.Name, d.LeaseUnit, ttl, cmp.Or(d.LeaseUnitWhy, "fails half way, and leaves the key locked for ever"), whole, d.Name, ttl)
}

// Explorable returns nil if the design can be explored in virtual time, and else an error with the
// reason.
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
	// Locker returns a new owner (a thread of the process). It tells o of its attempts and of
	// renewals on its behalf.
	Locker(o Observer) lockbench.Locker
	// Close ends background work, waits for it and closes the connections. Holds stay on the
	// server.
	Close() error
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

// An Observer is told of events that cannot be seen from outside a call. Implementations are safe
// for concurrent use.
type Observer interface {
	// Attempt is called at the start of each attempt to acquire key (the key as
	// passed to Acquire), before any clock is read or request sent. It returns
	// that instant, real and monotonic: the start of validity if it succeeds.
	Attempt(key string) time.Time
	// Renewing is called before a renewal of key in the background is sent. The function that it
	// returns is called with the result: the granted lease, or an error (which wraps
	// lockbench.ErrNotHeld if the lock was lost).
	Renewing(key string) func(granted time.Duration, err error)
}

// Blind is an Observer that ignores everything.
var Blind Observer = blind{}

type blind struct{}

func (blind) Attempt(string) time.Time { return time.Now() }

func (blind) Renewing(string) func(time.Duration, error) {
	return func(time.Duration, error) {}
}

// A Control is a baseline for locks in live runs. It claims nothing, and decides nothing.
type Control string

// The controls.
const (
	NoLock     Control = "no-lock" // the same work without mutual exclusion
	OneRequest Control = "atomic"  // the same work, each step in one request; Open's lockers are not used
)
