package hashreentrant

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// ownPrefix is the prefix of every key of the family on the server.
const ownPrefix = "hash-reentrant:"

// scriptCommands are the commands in the scripts of every variant, and the commands that run
// scripts.
var scriptCommands = []string{"EVALSHA", "EVAL", "EXISTS", "HEXISTS", "HSET", "PEXPIRE", "PTTL", "DEL"}

// Designs returns the variants plain, watchdog and notify.
func Designs() []design.Design {
	return []design.Design{plain(), withWatchdog(), notify()}
}

// plain claims the guarantees that its scripts keep within the document's own limits: waits are
// not interrupted, and nested acquires ask for no shorter lease than the outer one (or they cut
// it short). A run beyond the latter, with --nested-ttl, breaks the claims, as it should. Not
// loss-reported: the unlock of a lost lock is silent. Nothing after a cancel: an interrupted wait
// falls through. It keeps recovery: one script sets lock and lease, and nobody renews.
func plain() design.Design {
	return design.Design{
		Name:      "hash-reentrant/plain",
		Summary:   "a script counts the owner's levels in a hash with a lease; waiters poll every 200 ms",
		Source:    "Study notes: a Redis distributed lock by Lua",
		Claims:    scriptClaims(),
		Reacquire: design.Nested,
		Granted:   design.WholeMillis,
		Commands:  append([]string{"HINCRBY"}, scriptCommands...),
		Open:      onredis.Open(func(env onredis.Environment) (design.Process, error) { return open(env, false) }),
	}
}

// withWatchdog claims the same as plain; lease also for renewed holds. It keeps recovery when the
// whole process dies, but it renews the lock of an owner that dies in a live process for ever.
// Not exclusion@outlived: one error ends the renewals of the process for good.
func withWatchdog() design.Design {
	return design.Design{
		Name:      "hash-reentrant/watchdog",
		Summary:   "plain, and one thread a process renews the lease of each held key every 1733 ms",
		Source:    "Study notes: a Redis distributed lock by Lua",
		Claims:    scriptClaims().But(orphaned()),
		Reacquire: design.Nested,
		Renews:    true,
		// A renewal that was due before an unlock may reach the server after the next lock by the
		// same thread, which is the same owner, and then sets the earlier lease.
		EqualLeases: true,
		Granted:     design.WholeMillis,
		Commands:    append([]string{"HINCRBY"}, scriptCommands...),
		Open:        onredis.Open(func(env onredis.Environment) (design.Process, error) { return open(env, true) }),
	}
}

func scriptClaims() lockbench.Claims {
	return lockbench.LeaseClaims(lockbench.Reentrancy).Without(lockbench.LossReported).But(interrupted(), repeated())
}

// interrupted is the fault of the document's lock loop: an interrupted wait falls through to the
// code after a grant.
func interrupted() lockbench.Exception {
	return lockbench.Exception{Under: lockbench.Cancel, Lasts: true, Why: "a wait that is interrupted counts as granted"}
}

// repeated is the fault of the count of levels, which does not distinguish requests.
func repeated() lockbench.Exception {
	return lockbench.Exception{
		Gives: []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Recovery},
		Under: lockbench.LostReply,
		Why:   "a request that is sent again after its reply was lost is counted twice",
	}
}

// orphaned is the fault of a renewal that does not check whether its thread lives.
func orphaned() lockbench.Exception {
	return lockbench.Exception{
		Gives: []lockbench.Guarantee{lockbench.Recovery},
		Under: lockbench.ThreadDeath,
		Why:   "the process renews the locks of its dead threads for ever",
	}
}
