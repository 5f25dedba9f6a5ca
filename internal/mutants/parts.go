package mutants

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Parts are what a lock is made of: the sound lock's parts, of which a mutant
// changes one or two. A step is what one call sends to the server; it returns
// whether it found the lock as it needs it (free, or the hold's own), and the
// error of its first command as it came.
type parts struct {
	abilities

	token func(*process) (string, error)
	// named is what a key is called on the server, after the prefix of all.
	named func(key string) string

	// wait obtains h, or returns when the wait that h has is over.
	wait  func(ctx context.Context, h *hold) error
	take  func(ctx context.Context, h *hold) (granted bool, err error)
	nest  func(ctx context.Context, h *hold, ttl time.Duration) (held bool, err error)
	keep  func(ctx context.Context, h *hold, ttl time.Duration) (held bool, err error)
	renew func(ctx context.Context, h *hold, ttl time.Duration) (held bool, err error)
	inner func(ctx context.Context, h *hold) (held bool, err error)
	free  func(ctx context.Context, h *hold) (held bool, err error)
	delay func(ctx context.Context, h *hold, d time.Duration) (held bool, err error)

	// granted is called with a grant before the caller gets it, failed with an acquire that
	// was neither granted nor refused.
	granted func(ctx context.Context, h *hold)
	failed  func(ctx context.Context, h *hold, err error)
	// rounded is the lease that is asked of the server.
	rounded func(ttl time.Duration) time.Duration
	// promise is the lease that the caller gets, when ttl is asked for.
	promise func(ttl time.Duration) time.Duration
	watchdog
}

// Abilities are what a lock can do beside what every lock can.
type abilities struct {
	nested  bool // a second acquire by the holder counts
	renews  bool // a watchdog prolongs what is held
	notices bool // leases report a loss by Lost
}

// Abilities that several mutants have.
var (
	watched          = abilities{renews: true}
	noticing         = abilities{renews: true, notices: true}
	reentrant        = abilities{nested: true, notices: true}
	reentrantWatched = abilities{nested: true, renews: true}
)

// A watchdog decides about the renewals of h, whose mu is held.
type watchdog struct {
	// renewed is called after a renewal that came through, missed after an error that
	// leaves open whether it did.
	renewed, missed func(h *hold)
	// ends reports whether a release that left depth levels ends the renewals.
	ends func(depth int, err error) bool
}

// sound returns the parts of a lock that keeps what a lease lock on one server can:
// a token of its own for each grant, one script for each step, and a fence that the
// granting script draws.
func sound(able abilities) parts {
	return parts{
		abilities: able,

		token:   randomToken,
		named:   func(key string) string { return key },
		wait:    poll,
		take:    take,
		nest:    nest,
		keep:    keep,
		renew:   renew,
		inner:   check,
		free:    free,
		delay:   delay,
		granted: func(context.Context, *hold) {},
		failed:  func(context.Context, *hold, error) {},
		rounded: design.WholeMillis,
		promise: design.WholeMillis,
		watchdog: watchdog{
			renewed: func(h *hold) { h.renewal.Reset(h.lease / 3) },
			missed:  func(h *hold) { h.renewal.Reset(h.lease / 12) },
			ends:    func(depth int, _ error) bool { return depth == 0 },
		},
	}
}

// design returns the entry of a lock made of a. Every lock here claims what
// its sound form keeps, whatever its fault.
func (a parts) design(name, summary, source string) design.Design {
	d := design.Design{
		Name:      "mutants/" + name,
		Summary:   summary,
		Source:    source,
		Claims:    a.claims(),
		Reacquire: design.Refused,
		Renews:    a.renews,
		Granted:   a.promise,
		Commands:  []string{"SET", "GET", "DEL", "INCR", "PEXPIRE", "PTTL", "EVALSHA", "EVAL"},
		Open:      onredis.Open(func(env onredis.Environment) (design.Process, error) { return open(env, a), nil }),
	}
	if a.nested {
		d.Reacquire = design.Nested
	}
	return d
}

func (a parts) claims() lockbench.Claims {
	claims := lockbench.LeaseClaims(lockbench.ReleaseDelay, lockbench.Fencing)
	if a.nested {
		claims = claims.With(lockbench.Reentrancy)
	}
	if a.renews {
		claims = claims.Renewing()
	}
	return claims
}

// later hides what an error of a command after the first would seem to say of the
// whole step, see [onredis.NoEffect].
func later(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("after the first command: %v", err)
}
