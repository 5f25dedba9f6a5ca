package redsync

import (
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// library is the built-in version; a test compares it with go.mod.
const library = "github.com/go-redsync/redsync/v4@v4.14.1"

const (
	// connections bounds the connections of a process to each server.
	connections = 64
	// quorumServers is the number in the description of Redlock.
	quorumServers = 5
)

// Designs returns the family: redsync/single and redsync/quorum.
func Designs() []design.Design {
	return []design.Design{
		entry("redsync/single", 1, "SET NX of a random value on one server; extended and released by scripts that compare it"),
		quorum(),
	}
}

// quorum does not claim no-spurious-refusal: if several try at once each may get a
// minority, and all are refused although nobody held the key. The description of Redlock
// says so, and lets them try again.
func quorum() design.Design {
	d := entry("redsync/quorum", quorumServers, "Redlock: SET NX on five servers at once, held where a majority grants it; extended and released on all")
	d.Claims = d.Claims.Without(lockbench.NoSpuriousRefusal).But(forgetful()...)
	return d
}

// forgetful has the exceptions in Redlock's own description ("Performance, crash recovery
// and fsync"): if a server comes back without a lock that only a bare majority held,
// another majority may grant it again. So nothing is claimed under state-loss and
// failover, though the loss of one server breaks little and seldom.
func forgetful() []lockbench.Exception {
	var all []lockbench.Exception
	for _, under := range []lockbench.Conditions{lockbench.StateLoss, lockbench.Failover} {
		all = append(all, lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.Exclusion, lockbench.LeaseKept, lockbench.Effects},
			Under: under,
			Why:   "Redlock grants a lock twice that was had on a bare majority, one server of which comes back without it: its description asks for fsync, or that servers stay away for a lease",
		})
	}
	return all
}

func entry(name string, servers int, summary string) design.Design {
	return design.Design{
		Name:      name,
		Summary:   summary,
		Source:    library,
		Library:   library,
		Claims:    lockbench.LeaseClaims(),
		Reacquire: design.Refused,
		Granted:   granted,
		LeaseUnit: time.Millisecond, LeaseUnitWhy: design.CutToMillis,
		Commands: []string{"SET", "EVALSHA", "EVAL", "GET", "PEXPIRE", "DEL"},
		Servers:  servers,
		Open: onredis.Open(func(env onredis.Environment) (design.Process, error) {
			return open(env, servers)
		}),
	}
}

// driftFactor is the share of a lease that the library subtracts for clock drift.
const driftFactor = 0.01

// granted is the lease that the library guarantees.
func granted(ttl time.Duration) time.Duration {
	return ttl - time.Duration(int64(float64(ttl)*driftFactor))
}

// A process shares its connections.
type process struct {
	env     onredis.Environment
	clients []*redis.Client
	redsync *redsync.Redsync
}

func open(env onredis.Environment, servers int) (design.Process, error) {
	clients, err := env.ConnectAll(servers, connections)
	if err != nil {
		return nil, err
	}
	var pools []redsyncredis.Pool
	for _, c := range clients {
		pools = append(pools, goredis.NewPool(c))
	}
	return &process{env, clients, redsync.New(pools...)}, nil
}

// Locker implements design.Process.
func (p *process) Locker(seen design.Observer) lockbench.Locker { return &owner{p, seen} }

// Close implements design.Process.
func (p *process) Close() error {
	var errs []error
	for _, c := range p.clients {
		errs = append(errs, p.env.Disconnect(c))
	}
	return errors.Join(errs...)
}
