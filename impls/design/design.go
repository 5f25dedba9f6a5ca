package design

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// A Design is one lock implementation of the catalogue: plain data, all that it says of itself in
// one place. A field that says what its zero value means may be left out.
type Design struct {
	// Name is "family/variant", stable.
	Name string
	// Summary says in one sentence how it works.
	Summary string
	// Source names the document or library it comes from, by a title that users can read.
	Source string
	// Library is the Go module and its version, "module@version", of a lock of other
	// people's that is used as it is; empty for ours.
	Library string
	// Claims are what the design can honestly keep, given its documented limits.
	Claims lockbench.Claims
	// Reacquire is what a second Acquire by the holder of a key does.
	Reacquire Reacquire
	// Renews: the design prolongs what it holds by itself, in the background.
	Renews bool
	// RenewsUnseen: it may do so without telling the Observer, as locks of others do.
	RenewsUnseen bool
	// Leaseless: it has no lease. What it grants lasts until its owner gives it up, or the
	// owner's session ends.
	Leaseless bool
	// Granted is the lease really given when ttl is asked for; nil means as asked. See
	// [Design.Lease].
	Granted func(ttl time.Duration) time.Duration
	// LeaseUnit is what leases have to be multiples of, others being worse than refused; zero
	// is any. A design that rounds them has Granted instead. See [Design.CanLease].
	LeaseUnit time.Duration
	// LeaseUnitWhy is what comes of a lease that is none; empty is that an acquire sets the key, and fails before it
	// has its lease.
	LeaseUnitWhy string
	// EqualLeases: all leases of an owner have to be equal, since a renewal that comes late sets that of an earlier
	// hold.
	EqualLeases bool
	// Tolerance is how much longer than the granted lease the design itself may
	// keep a crashed owner's key, beyond polling and rounding.
	Tolerance time.Duration
	// Backend is what it locks on; nil is Redis.
	Backend Backend
	// Commands are what it needs of the service, for [Service.Check] before a run: the
	// commands that it sends, on Redis.
	Commands []string
	// Servers is how many servers it locks on, which know nothing of each other; zero
	// is one.
	Servers int
	// Fences: its leases are lockbench.Fencers.
	Fences bool
	// LiveOnly says why the design cannot be explored in virtual time; empty where it can, or
	// where that follows from Servers or Backend. See [Design.Explorable].
	LiveOnly string
	// Control says that this is no lock, and what else; empty for a lock.
	Control Control
	// Open starts one process's worth of the design: its identity, connection
	// pool, registry and background work.
	Open func(Environment) (Process, error)
}

// ServerCount returns how many servers the design locks on, one at least.
func (d Design) ServerCount() int { return max(1, d.Servers) }

// Lease is the lease really given when ttl is asked for.
func (d Design) Lease(ttl time.Duration) time.Duration {
	if d.Granted == nil {
		return ttl
	}
	return d.Granted(ttl)
}

// CanLease returns nil when leases of ttl can be asked for, and else an error that says why not.
func (d Design) CanLease(ttl time.Duration) error {
	if d.LeaseUnit == 0 || ttl%d.LeaseUnit == 0 {
		return nil
	}
	whole := max(d.LeaseUnit, ttl.Round(d.LeaseUnit))
	return fmt.Errorf("design %s: its leases are multiples of %v; one of %v %s; hint: a lease of %v, or to see it: lockbench explore %s --scenario contend --ttl %v",
		d.Name, d.LeaseUnit, ttl, cmp.Or(d.LeaseUnitWhy, "fails half way, and leaves the key locked for ever"), whole, d.Name, ttl)
}

// Explorable returns nil when the design can be explored in virtual time, and else an
// error that says why not.
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

// A Process holds what the design keeps once per operating-system process.
// Its methods are safe for concurrent use.
type Process interface {
	// Locker makes one more owner (a thread of the process). It reports what
	// happens inside its calls, and in the background on its behalf, to o.
	Locker(o Observer) lockbench.Locker
	// Close ends background work, waits for it and closes the connections. What
	// is still held stays on the server.
	Close() error
}

// NewProcess returns a process of two functions, which are its methods.
func NewProcess(locker func(Observer) lockbench.Locker, close func() error) Process {
	return process{locker, close}
}

type process struct {
	locker func(Observer) lockbench.Locker
	close  func() error
}

func (p process) Locker(o Observer) lockbench.Locker { return p.locker(o) }

func (p process) Close() error { return p.close() }

// Reacquire is what a second Acquire does when its Locker holds the key.
type Reacquire string

// The ways of treating a second Acquire by the holder.
const (
	Refused   Reacquire = "refused"   // as if by another owner
	Nested    Reacquire = "nested"    // counted; as many releases free it
	Refreshed Reacquire = "refreshed" // the same hold, its lease begun anew; not counted
)

// An Observer is told what cannot be seen from outside a call. Implementations
// are safe for concurrent use.
type Observer interface {
	// Attempt is called at the start of each attempt to acquire key (the key as
	// passed to Acquire), before any clock is read or request sent. It returns
	// that instant, real and monotonic: the start of validity if it succeeds.
	Attempt(key string) time.Time
	// Renewing is called before a renewal of key in the background is sent, and
	// the function it returns when its result is known: the lease granted, or
	// the error (wrapping lockbench.ErrNotHeld when the lock was found lost).
	Renewing(key string) func(granted time.Duration, err error)
}

// Blind is an Observer that looks at nothing.
var Blind Observer = blind{}

type blind struct{}

func (blind) Attempt(string) time.Time { return time.Now() }

func (blind) Renewing(string) func(time.Duration, error) {
	return func(time.Duration, error) {}
}

// A Control is what locks are compared with in live runs. It claims nothing, and decides nothing.
type Control string

// The controls.
const (
	NoLock     Control = "no-lock" // the same work, and nobody is locked out
	OneRequest Control = "atomic"  // the same work, each step in one request; Open's lockers are not used
)
