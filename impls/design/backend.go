package design

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/lockbench/lockbench"
)

// A Backend is a kind of service for locks: a Redis server, a directory, a database. Its
// methods are safe for concurrent use.
type Backend interface {
	// Name returns the name of the backend in messages, such as "redis".
	Name() string
	// Offers returns a service that is not open. Its type shows the abilities of this backend's
	// services, which are the interfaces below.
	Offers() Service
	// Serves reports whether an address belongs to this backend, by its scheme.
	Serves(address string) bool
	// Open connects to the services at the addresses or, without addresses, starts n private ones.
	// Fewer addresses than n are an error, and so is a service that does not answer.
	Open(ctx context.Context, addresses []string, n int) ([]Service, error)
}

// An Installed is a backend whose private services are programs that may be missing.
type Installed interface {
	// Missing returns why no private service can be started, nil if one can.
	Missing() error
}

// A Service is a running service of a [Backend]. It shows its other abilities by implementing the
// interfaces below. Its methods are safe for concurrent use.
type Service interface {
	// Kind returns "external" for a service of the user, "private" for one that lockbench started,
	// and "embedded" for one in this process. The speed of an embedded service says nothing about
	// the design.
	Kind() string
	// Version returns the product and its version. Address returns the address without secrets.
	Version() string
	Address() string
	// Reach returns the means to connect to the service, for [Environment.Services]. Each call
	// returns a new value.
	Reach() any
	// Check returns an error if a design with these needs, see [Design.Commands], cannot run on the
	// service.
	Check(ctx context.Context, needs []string) error
	// Ping returns nil when the service answers.
	Ping(ctx context.Context) error
	// Sweep removes the entries of locks under names that begin with prefix, which is not empty, and
	// returns their number.
	Sweep(ctx context.Context, prefix string) (removed int, err error)
	// Close ends a private or embedded service, and leaves an external one running.
	Close() error
}

// The kinds of service.
const (
	External = "external"
	Private  = "private"
	Embedded = "embedded"
)

// A Mortal is a service, or a [Program], that may end by itself.
type Mortal interface {
	// Done returns a channel that is closed when it has ended, or is of no more use. Err returns the
	// reason after that, and nil before.
	Done() <-chan struct{}
	Err() error
}

// A Metered is a service that reports its processor time.
type Metered interface {
	// Usage returns the processor time so far, or an error if it is unknown.
	Usage(ctx context.Context) (Usage, error)
}

// A Usage is the processor time that a service has taken since it was started.
type Usage struct {
	// RunID identifies the service until it restarts. CPU begins at zero again after a restart.
	RunID string
	CPU   time.Duration
}

// A Neighbour is a service that knows whether it runs on this machine.
type Neighbour interface {
	// Local reports whether the service runs on this machine, beside the clients.
	Local() bool
}

// A Prompt is a service that answers at once unless it stands still.
type Prompt interface {
	// Ask returns a function that sends a cheap request on a connection of its own, and waits for the
	// answer or the end of ctx; close closes the connection. One goroutine calls the function.
	Ask() (ask func(ctx context.Context) error, close func() error)
}

// A Watched is a service that shows the faults that happened to it.
type Watched interface {
	// Watch returns a function that looks at the service on a connection of its own. Looks leave
	// entries, under names that begin with prefix, for later looks to find; close closes the
	// connection. One goroutine calls the function.
	Watch(prefix string) (look func(ctx context.Context) (Glance, error), close func() error)
}

// A Divided is a service that consists of parts, each with keys of its own.
type Divided interface {
	// Parts returns the parts, such as the masters of a cluster, or the service itself if it has one
	// part. Each is watched separately.
	Parts() []Service
}

// A Glance is the result of a look at a service. A field that the service does not reveal is empty,
// and Hidden gives the reason.
type Glance struct {
	// Run identifies the service until it restarts.
	Run string
	// Role is its role among services with the same data, such as master or slave. Data identifies the
	// data, and Ancestor the data that it followed until it took over.
	Role, Data, Ancestor string
	// Rival reports whether the service that took over, and the one before it, both still serve
	// clients.
	Rival bool
	// Evicted is the number of keys that the service has dropped so far for lack of memory.
	Evicted int64
	// Kept reports whether the service still had all entries that earlier looks left, see
	// [Watched].
	Kept   bool
	Hidden string
}

// A Keeper is a service that can store the records that locks guard. On any other service, the
// driver keeps them in memory.
type Keeper interface {
	// Records opens the records of a run, under names that begin with prefix. Sweep removes them.
	Records(prefix string) Records
}

// Records are the guarded records of a run. They are safe for concurrent use.
type Records interface {
	lockbench.Store
	// Guarded returns the records behind a guard: a [lockbench.GuardedStore], or the records
	// themselves for [lockbench.NoGuard]. An unknown guard is an error.
	Guarded(by lockbench.Guard) (lockbench.Store, error)
	// Close closes the connections. The records stay until they are swept.
	Close() error
}

// A Listed is a service that lists the runs that have entries on it, so that those of killed runs can
// be removed.
type Listed interface {
	// Runs returns the entries of each run, sorted by prefix.
	Runs(ctx context.Context) ([]RunEntries, error)
}

// A RunEntries describes the entries that a run has on a service.
type RunEntries struct {
	// Prefix begins the names of the run: lockbench:, eight hexadecimal digits, and a colon.
	Prefix string
	// Entries is their number.
	Entries int
	// Idle is how long ago one was last used, by the clock of the service.
	Idle time.Duration
	// Note is what the service knows in place of Idle, which is zero then; empty if it knows Idle.
	Note string
}

// A Remote is a service that answers over connections, so that replies can be lost. A design on it
// sends its requests by [Environment.Pass], or through package onredis.
type Remote interface {
	// Remote does nothing; it marks the ability.
	Remote()
}

// A Networked is a service that faults of the network can affect: its [Service.Reach] is a [Dialed].
type Networked interface {
	Remote
	// Endpoint returns the TCP address of the service, empty if it is not reached by TCP.
	Endpoint() string
}

// A Dial opens a connection.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// A Dialed is the means to connect to a service by a function that can be wrapped.
type Dialed interface {
	// Dialing returns the same means with its Dial wrapped.
	Dialing(wrap func(Dial) Dial) any
}

// An Addressed is the means to connect to a service for a program of its own, which gets a URL.
type Addressed interface {
	// DialServer opens a connection to the service.
	DialServer(ctx context.Context) (net.Conn, error)
	// URL returns the URL of the service, with its secrets, by way of a TCP address.
	URL(via string) string
}

// A Restarter is a service that can lose its memory, or a part of it, by a restart. Its kind is
// [Private].
type Restarter interface {
	// Restart kills the service, calls between when the service has ended, and starts it again. It
	// returns when the new service answers.
	Restart(ctx context.Context, between func()) error
}

// A Durable is a [Restarter] whose restart changes nothing: what it has acknowledged is there, and ends
// when it would have ended, or later if it is a [Prolonger]. So its locks cannot show what a loss would do. A
// service whose sessions end with it is none.
type Durable interface {
	Restarter
	// Durable does nothing; it marks the ability.
	Durable()
}

// A Prolonger is a [Durable] whose restart prolongs leases, also those of owners that have died.
type Prolonger interface {
	Durable
	// Prolongs returns how long after a restart every lease lasts at least. Zero means that each begins anew.
	Prolongs() time.Duration
}

// An Elector is a [Prolonger] that can have members, which elect a leader. The loss of a leader loses no data.
// Its kind is [Private].
type Elector interface {
	Prolonger
	// Enlarge adds members, so that a majority is left when one is lost. It does nothing if it was called
	// before. The members end with the service.
	Enlarge(ctx context.Context) error
	// LoseLeader kills the leader, calls between when it has ended, and starts it again. It returns when
	// there is a leader, and the killed member answers.
	LoseLeader(ctx context.Context, between func()) error
	// Term returns the number of elections so far. A busy machine brings some, and each prolongs leases.
	Term(ctx context.Context) (uint64, error)
}

// A Replicator is a service whose place a replica can take. Its kind is [Private].
type Replicator interface {
	// ListenTCP returns the address that replicas replicate from.
	ListenTCP(ctx context.Context) (address string, err error)
	// StartReplica starts a replica that replicates through the address via, and returns it when it is in
	// step with the service.
	StartReplica(ctx context.Context, via string) (Replica, error)
}

// A Replica replicates a service until it takes that service's place.
type Replica interface {
	// Behind returns how many bytes the replica lacks. It is more than zero if the replica lacks state that
	// is not replicated, such as sessions.
	Behind(ctx context.Context) (int64, error)
	// Failover kills the service, calls between when it has ended, and puts the replica in its place, at
	// its address. Data that was not replicated is lost. The Replica is unusable afterwards.
	Failover(ctx context.Context, between func()) error
	// Close ends a replica that has not taken the place of the service, and does nothing to another.
	Close() error
}

// A SessionEnder is a service with sessions that can end those of all its clients, as an administrator
// does. Its kind is [Private].
type SessionEnder interface {
	// EndSessions returns when the sessions that it found have ended. Lockbench's own may be among them.
	EndSessions(ctx context.Context) error
}

// A Suspender is a service, or a [Program], that can be stopped for a while.
type Suspender interface {
	// Suspend stops it, so that requests wait, until Resume.
	Suspend() error
	Resume() error
}

// ByGuard returns the one of three stores that stands for a guard. It fails for an unknown guard.
func ByGuard(by lockbench.Guard, plain lockbench.Store, fenced, compared lockbench.GuardedStore) (lockbench.Store, error) {
	switch by {
	case lockbench.NoGuard, "":
		return plain, nil
	case lockbench.FenceGuard:
		return fenced, nil
	case lockbench.CompareGuard:
		return compared, nil
	}
	return nil, fmt.Errorf("guard %q: there is none of that name; hint: one of %v", by, lockbench.Guards())
}
