package mutants

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A parts is a lock, as functions for its decisions and steps. A mutant differs from the sound lock
// in one or two of them. A step is the command that one call sends to the server. It returns
// whether it found the lock in the state it needs (free, or owned by the hold), and the unchanged
// error of its first command.
type parts struct {
	abilities

	token func(*process) (string, error)
	// named returns the name of a key on the server, after the common prefix.
	named func(key string) string

	// wait obtains h, or returns when h's wait is over.
	wait  func(ctx context.Context, h *hold) error
	take  func(ctx context.Context, h *hold) (granted bool, err error)
	nest  func(ctx context.Context, h *hold, ttl time.Duration) (held bool, err error)
	keep  func(ctx context.Context, h *hold, ttl time.Duration) (held bool, err error)
	renew func(ctx context.Context, h *hold, ttl time.Duration) (held bool, err error)
	inner func(ctx context.Context, h *hold) (held bool, err error)
	free  func(ctx context.Context, h *hold) (held bool, err error)
	delay func(ctx context.Context, h *hold, d time.Duration) (held bool, err error)

	// granted is called for a grant before the caller gets it, and failed for an acquire that was
	// neither granted nor refused.
	granted func(ctx context.Context, h *hold)
	failed  func(ctx context.Context, h *hold, err error)
	// rounded returns the lease requested from the server.
	rounded func(ttl time.Duration) time.Duration
	// promise returns the lease that the caller is told for ttl.
	promise func(ttl time.Duration) time.Duration
	watchdog
}

// An abilities has the optional abilities of a lock.
type abilities struct {
	nested  bool // a second acquire by the holder is granted, and counted
	renews  bool // a watchdog prolongs holds
	notices bool // leases report a loss by Lost
}

// The abilities of several mutants.
var (
	watched          = abilities{renews: true}
	noticing         = abilities{renews: true, notices: true}
	reentrant        = abilities{nested: true, notices: true}
	reentrantWatched = abilities{nested: true, renews: true}
)

// A watchdog decides about the renewals of h. h.mu is held.
type watchdog struct {
	// renewed is called after a successful renewal, and missed after an error that leaves the
	// outcome of a renewal unknown.
	renewed, missed func(h *hold)
	// ends reports whether a release that leaves depth levels ends the renewals.
	ends func(depth int, err error) bool
}

// sound returns the parts of a lock that keeps the guarantees of a lease lock on one
// server: a token of its own for each grant, one script for each step, and a fence that the
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

// design returns the design of a lock made of these parts. Every lock of this package claims the
// guarantees of its sound form, whatever its fault.
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

// later hides the type of the error of a later command in a step. The type would be taken to
// concern the whole step, see [onredis.NoEffect].
func later(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("after the first command: %v", err)
}
