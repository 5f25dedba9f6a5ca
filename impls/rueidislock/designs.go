package rueidislock

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// library is the built-in version; a test compares it with go.mod.
const library = "github.com/redis/rueidis@v1.0.79"

// A mode is the way in which a process learns of changed keys.
type mode int

const (
	tracking mode = iota // the server reports all changes, even the process's own: the library's default
	noloop               // the server reports others' changes
	polling              // no reports: client side caching is off
)

// Designs returns the family: rueidislock/tracking, noloop and polling.
func Designs() []design.Design { return family(patience) }

// patience is the library's default time-out of a command, and its pause between polls.
const patience = 20 * time.Millisecond

func family(patience time.Duration) []design.Design {
	entry := func(name, summary string, m mode) design.Design {
		d := describe(name, summary, m)
		d.Open = onredis.Open(func(env onredis.Environment) (design.Process, error) {
			return &process{env: env, road: env.Connect(1), mode: m, patience: patience, lockers: map[lease]locker{}}, nil
		})
		return d
	}
	return []design.Design{
		entry("rueidislock/tracking", "waiters are woken by client side caching, as the library does unless told otherwise", tracking),
		entry("rueidislock/noloop", "tracking, by which a process is not told of its own changes (Redis 7.0.5 and newer)", noloop),
		entry("rueidislock/polling", "waiters poll every 20 ms", polling),
	}
}

// describe returns an entry of the catalogue without its Open.
func describe(name, summary string, m mode) design.Design {
	needs := []string{"EVALSHA", "EVAL", "SET", "GET", "PEXPIREAT", "DEL"}
	if m != polling {
		needs = append(needs, "CLIENT TRACKING")
	}
	return design.Design{
		Name:      name,
		Summary:   "SET NX of the majority of three keys, renewed at half the lease; " + summary,
		Source:    library,
		Library:   library,
		Claims:    claims(),
		Reacquire: design.Refused,
		Renews:    true,
		LiveOnly:  "its goroutines wait for mutexes while a command is under way, and its random values cannot be seeded",
		Commands:  needs,
	}
}

// claims are without skew, except for answers and recovery: keys end at an instant that the client
// computes (PXAT). Not loss-reported: the library does not tell whether a release found its keys, so
// only the context tells an owner of a loss, at the next renewal (or, with tracking, when the server
// reports it). Not no-spurious-refusal: keys that a failed try could not remove, because its
// connection was cut, stay for the rest of the lease. Lease, also for renewed holds: an answered
// renewal has moved the end of its key on the server.
func claims() lockbench.Claims {
	c := lockbench.LeaseClaims().Without(lockbench.LossReported, lockbench.NoSpuriousRefusal)
	c.Survives &^= lockbench.Skew
	c.Also = []lockbench.Cell{lockbench.Answers.At(lockbench.Skew), lockbench.Recovery.At(lockbench.Skew)}
	return c.But(
		lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.Recovery},
			Under: lockbench.ThreadDeath,
			Why:   "the library goes on renewing what nobody will release",
		},
		lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.Exclusion, lockbench.LeaseKept, lockbench.Effects},
			Under: lockbench.LostReply,
			Lasts: true,
			Why:   "a renewal that is not answered has the library delete the key at once, and its owner is told after that",
		},
	)
}
