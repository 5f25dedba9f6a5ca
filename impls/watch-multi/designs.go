package watchmulti

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Designs returns the variants give-up and poll: the document's policies 0 and 1.
func Designs() []design.Design {
	return []design.Design{
		variant("give-up", "a WATCH transaction on owner and lease end; gives up at once if the lease outlasts the wait", giveUp),
		variant("poll", "a WATCH transaction on owner and lease end; looks every 10 ms whether the lease is over", poll),
	}
}

// claims are the guarantees that hold: an answer is the server's, and an error no
// refusal. Not exclusion, effects or lease, because a grant by HSETNX can be stolen
// before its second step. Not owner-release, because that step and the identity, which
// all threads of a process share, change the next holder's lease. Not
// no-spurious-refusal, because a late second step leaves a lease that nobody has. Not
// recovery, because an owner that stops between HSETNX and that step, dead, cancelled or
// without a reply, may leave a key without expiry that refuses its own process for ever.
// Not loss-reported, because an expired key counts as lost though nobody took it, and so
// does a lock that was stolen before its second step, which then was granted to two.
// Nothing under skew, because the clients' clocks measure the lease. Not release-delay,
// because a release between the first look and the transaction is granted without it.
func claims() lockbench.Claims {
	return lockbench.Claims{
		Keeps:    []lockbench.Guarantee{lockbench.Answers},
		Survives: lockbench.Survivable &^ lockbench.Skew,
	}
}

func variant(name, summary string, wait policy) design.Design {
	return design.Design{
		Name:      "watch-multi/" + name,
		Summary:   summary,
		Source:    "Locks on Alawar's sites",
		Claims:    claims(),
		Reacquire: design.Refused,
		// A dead owner's key expires at a whole second, rounded up; until then it
		// refuses its own process.
		Tolerance: time.Second,
		Commands:  []string{"WATCH", "UNWATCH", "MULTI", "EXEC", "HGET", "HGETALL", "HSET", "HSETNX", "HDEL", "EXPIREAT"},
		Open: onredis.Open(func(env onredis.Environment) (design.Process, error) {
			return open(env, wait), nil
		}),
	}
}
