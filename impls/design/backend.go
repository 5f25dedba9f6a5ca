package design

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// A Backend is a kind of service that locks stand on: a Redis server, a directory, a
// database. Its methods are safe for concurrent use.
type Backend interface {
	// Name is what messages call it, such as "redis".
	Name() string
	// Offers is a service that is not open: its type says what services of this backend can do
	// beside what all can, by the interfaces below.
	Offers() Service
	// Serves reports whether an address is one of this backend's, by its scheme.
	Serves(address string) bool
	// Open connects to the services at the addresses or, where there are none, starts n of
	// its own. Fewer addresses than n are an error, and so is one that does not answer.
	Open(ctx context.Context, addresses []string, n int) ([]Service, error)
}

// A Service is one service of a [Backend], running. What else it can do it says by the
// interfaces below. Its methods are safe for concurrent use.
type Service interface {
	// Kind says whose it is: "external" is the user's, "private" is ours, "embedded" is
	// part of this process, so that its speed says nothing of the design.
	Kind() string
	// Version is product and version, Address where it is, without secrets.
	Version() string
	Address() string
	// Reach is what a process of a design is given to reach it by, in
	// [Environment.Services]. Each call returns one of its own.
	Reach() any
	// Check returns why a design cannot run on it that needs this: see [Design.Commands].
	Check(ctx context.Context, needs []string) error
	// Ping returns nil when the service answers.
	Ping(ctx context.Context) error
	// Sweep removes what locks have left under names that begin with prefix, which is not
	// empty, and returns how many that were.
	Sweep(ctx context.Context, prefix string) (removed int, err error)
	// Close ends a service of ours, and leaves one of the user's alone.
	Close() error
}

// The kinds of service.
const (
	External = "external"
	Private  = "private"
	Embedded = "embedded"
)

// A Mortal service may end by itself.
type Mortal interface {
	// Done is closed when it did, and Err then says how; nil before.
	Done() <-chan struct{}
	Err() error
}

// A Metered service knows what it costs.
type Metered interface {
	// Usage returns what the service has used so far. The error says that nobody knows.
	Usage(ctx context.Context) (Usage, error)
}

// A Usage is the processor time that a service has taken since it was started.
type Usage struct {
	// RunID is the service's: after a restart another one counts, from zero.
	RunID string
	CPU   time.Duration
}

// A Neighbour may run on this machine, beside the clients.
type Neighbour interface {
	// Local reports whether it does.
	Local() bool
}

// A Prompt service answers at once, if it does not stand still.
type Prompt interface {
	// Ask returns a function that asks the service, on a connection of its own, for something that
	// takes it next to no time, and waits for the answer or the end of ctx; close closes the connection.
	// The function is called by one goroutine.
	Ask() (ask func(ctx context.Context) error, close func() error)
}

// A Watched service shows what befell it.
type Watched interface {
	// Watch returns a function that looks at the service on a connection of its own, and keeps something there under a name that
	// begins with prefix, for the next look to find; close closes the connection. The function is called by one goroutine.
	Watch(prefix string) (look func(ctx context.Context) (Glance, error), close func() error)
}

// A Divided service consists of parts, each with keys of its own.
type Divided interface {
	// Parts returns them: the service itself where it is one. Each is to be watched by itself.
	Parts() []Service
}

// A Glance is what a look at a service showed. What the service hides is empty, and Hidden says why.
type Glance struct {
	// Run is another one after each start.
	Run string
	// Role is what it is to others with the same data, such as master or slave; Data names the data, and Ancestor those that it
	// followed until it took over.
	Role, Data, Ancestor string
	// Evicted is how many keys it has dropped so far for want of memory.
	Evicted int64
	// Kept: what the look before this one left was there.
	Kept   bool
	Hidden string
}

// A Keeper can keep the records that locks guard. Where a service cannot, they are kept in
// the memory of the driver.
type Keeper interface {
	// Records opens the records of a run under names that begin with prefix. Sweep removes
	// them.
	Records(prefix string) Records
}

// Records are the guarded records of a run. They are safe for concurrent use.
type Records interface {
	lockbench.Store
	// Guarded returns them behind a guard: a [lockbench.GuardedStore], or themselves for
	// [lockbench.NoGuard]. The error is for a guard that there is none of.
	Guarded(by lockbench.Guard) (lockbench.Store, error)
	// Close closes the connections. The records stay until they are swept.
	Close() error
}

// A Remote service answers over connections, so that replies can be lost. A design on it sends
// its requests by [Environment.Pass], or through package onredis.
type Remote interface {
	// Remote does nothing: to have it says so.
	Remote()
}

// A Restarter can lose what it has in memory. It is of kind [Private].
type Restarter interface {
	// Restart kills the service, calls between when nothing of it is left, and starts it
	// anew. It returns when the new one answers.
	Restart(ctx context.Context, between func()) error
}

// A Suspender can stand still.
type Suspender interface {
	// Suspend stops it, so that requests wait, until Resume.
	Suspend() error
	Resume() error
}
