package synthetic

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Config describes a history to generate. Equal Configs make equal histories.
type Config struct {
	// Ops is the exact number of operations.
	Ops int64
	// Violations is the number of grants of a key to a second owner within the
	// validity of the first, spread evenly over the operations.
	Violations int64
	// Seed decides all random draws.
	Seed uint64
	// Clients work side by side on Keys locks.
	Clients, Keys int
	// Unknown is the share of operations, 0 to 1, with an unknown outcome.
	Unknown float64
	// TTL is the requested and granted lease. Holds last a five-hundredth of it on
	// average; one hold in some thousands outlives it.
	TTL time.Duration
}

// Usual is the Config of lockbench's own figures.
func Usual() Config {
	return Config{Ops: 1_000_000, Seed: 1, Clients: 64, Keys: 1000, TTL: 100 * time.Millisecond}
}

// perViolation is the least number of operations for each violation, because a
// violation needs a lock that is held for a while longer.
const perViolation = 50

// Validate returns the error in c, if any.
func (c Config) Validate() error {
	switch {
	case c.Ops < 1:
		return fmt.Errorf("%d operations make no history; hint: ask for one at least", c.Ops)
	case c.Violations < 0 || c.Violations > c.Ops/perViolation:
		return fmt.Errorf("%d violations do not fit into %d operations; hint: at most one in %d operations", c.Violations, c.Ops, perViolation)
	case c.Clients < 1 || c.Clients > maxClients:
		return fmt.Errorf("%d clients cannot be made up; hint: 1 to %d", c.Clients, maxClients)
	case c.Violations > 0 && c.Clients < 2:
		return fmt.Errorf("one client cannot exclude itself, so %d violations need another; hint: two clients at least", c.Violations)
	case c.Keys < 1 || c.Keys > maxKeys:
		return fmt.Errorf("%d keys cannot be made up; hint: 1 to %d", c.Keys, maxKeys)
	case !(c.Unknown >= 0 && c.Unknown <= maxUnknown):
		return fmt.Errorf("%v is no share of operations with an unknown outcome; hint: 0 to %v", c.Unknown, maxUnknown)
	case c.TTL < minTTL:
		return fmt.Errorf("a lease of %v is over before its grant is known; hint: %v at least", c.TTL, minTTL)
	}
	return nil
}

const (
	maxClients = 100_000
	maxKeys    = 10_000_000
	maxUnknown = 0.95
	minTTL     = 5 * time.Millisecond
)

// Header is the header of the history: it claims the guarantees of a lease lock on one
// server. The violations break exclusion and, since they are grants within a lease,
// lease.
func (c Config) Header() history.Header {
	return history.Header{
		Design:    "synthetic",
		Reacquire: "refused",
		Claims: lockbench.Claims{Keeps: []lockbench.Guarantee{
			lockbench.Exclusion, lockbench.LeaseKept, lockbench.OwnerRelease,
			lockbench.LossReported, lockbench.NoSpuriousRefusal,
		}},
		Exercises: []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0)},
		Workload:  "synthetic",
		Params: map[string]any{
			"ops": c.Ops, "violations": c.Violations, "clients": c.Clients, "keys": c.Keys,
			"unknown": c.Unknown, "ttl": c.TTL.String(),
		},
		Seed:    c.Seed,
		Server:  runinfo.Server{Kind: "none"},
		Started: "2000-01-01T00:00:00Z", // equal Configs make equal files
	}
}
