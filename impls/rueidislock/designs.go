package rueidislock

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// library is the version that is built in; a test compares it with go.mod.
const library = "github.com/redis/rueidis@v1.0.79"

// Designs returns the family: rueidislock/tracking and rueidislock/polling.
func Designs() []design.Design {
	tracking := entry("rueidislock/tracking",
		"SET NX of the majority of three keys, renewed at half the lease; waiters are woken by client side caching", true)
	tracking.Tracked = true
	return []design.Design{tracking, entry("rueidislock/polling",
		"SET NX of the majority of three keys, renewed at half the lease; waiters poll every 20 ms", false)}
}

func entry(name, summary string, tracking bool) design.Design {
	return design.Design{
		Name:    name,
		Summary: summary,
		Source:  library,
		Library: library,
		// Not skew: keys end at an instant that the client works out (PXAT). Not
		// loss-reported: a release has no answer, so an owner is told by its context
		// alone, at the next renewal (or, tracking, when the server tells).
		Claims: slices.DeleteFunc(design.LeaseClaims(), func(g lockbench.Guarantee) bool {
			return g == lockbench.Skew || g == lockbench.LossReported
		}),
		Limits: []design.Limit{{
			Fault: design.ThreadDeath,
			Gives: []lockbench.Guarantee{lockbench.Recovery},
			Why:   "the library goes on renewing what nobody will release",
		}},
		Reacquire: design.Refused,
		Renews:    true,
		LiveOnly:  "its goroutines wait for mutexes while a command is under way, and its random values cannot be seeded",
		Commands:  []string{"EVALSHA", "EVAL", "SET", "GET", "PEXPIREAT", "DEL"},
		Open: func(env design.Environment) (design.Process, error) {
			return &process{env: env, tracking: tracking, lockers: map[lease]locker{}}, nil
		},
	}
}
