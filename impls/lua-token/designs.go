package luatoken

import (
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Designs returns the family: lua-token/expire, token, options, strategy, fenced and
// batched.
func Designs() []design.Design {
	return []design.Design{
		expireDesign(), tokenDesign(), optionsDesign(), strategyDesign(), fencedDesign(), batchedDesign(),
	}
}

func expireDesign() design.Design {
	return design.Design{
		Name:    "lua-token/expire",
		Summary: "SETNX and EXPIRE in one script; released by a plain DEL",
		Source:  "A distributed lock with Redis, stage 3",
		// The plain DEL breaks exclusion, owner-release, loss-reported and effects;
		// exceptions that become refusals break no-spurious-refusal. The script keeps the
		// rest for leases of whole seconds, as in the document.
		Claims: lockbench.Claims{
			Keeps:    []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Answers, lockbench.Recovery},
			Survives: lockbench.Survivable &^ lockbench.Skew,
			Also:     []lockbench.Cell{lockbench.Answers.At(lockbench.Skew), lockbench.Recovery.At(lockbench.Skew)},
			Except: []lockbench.Exception{
				{
					Gives: []lockbench.Guarantee{lockbench.LeaseKept}, Under: lockbench.Cancel, Lasts: true,
					Why: "the plain DEL of an unlock that was given up and arrives late frees whatever lock there is by then, its owner's next one too",
				},
				{
					Gives: []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Answers, lockbench.Recovery}, Under: lockbench.LostReply,
					Why: "a lost reply is answered as a refusal while the lock stays set, and the plain DEL of an unlock whose reply was lost frees whatever lock there is by then",
				},
			},
		},
		Reacquire: design.Refused,
		LeaseUnit: time.Second,
		Commands:  []string{"EVALSHA", "EVAL", "SETNX", "EXPIRE", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return &expire{polling{env: env, client: client, seen: seen}}
		}),
	}
}

func tokenDesign() design.Design {
	return design.Design{
		Name:    "lua-token/token",
		Summary: "SETNX of a value unique to the lock object, and EXPIRE, in one script; released by compare-and-delete in another, whose answer is ignored",
		Source:  "A distributed lock with Redis, stage 4",
		// Not loss-reported (the answer of the unlock is ignored), nor
		// no-spurious-refusal (exceptions become refusals; an object that was never
		// unlocked refuses its owner). The object's next lock has the same value, so an
		// unlock that was given up and arrives late frees it. That lock is the object's
		// own: another owner's lock has another value, hence owner-release. Recovery and
		// lease for whole seconds, as in expire.
		Claims: lockbench.Claims{
			Keeps: []lockbench.Guarantee{
				lockbench.Exclusion, lockbench.LeaseKept, lockbench.OwnerRelease, lockbench.Answers,
				lockbench.Recovery, lockbench.Effects,
			},
			Survives: lockbench.Survivable,
			Except: []lockbench.Exception{reused(), {
				Gives: []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Answers, lockbench.Recovery}, Under: lockbench.LostReply,
				Why: "a lost reply is answered as a refusal while the lock stays set, and an unlock whose reply was lost and which arrives late frees the object's next lock",
			}},
		},
		Reacquire: design.Refused,
		LeaseUnit: time.Second,
		Commands:  []string{"EVALSHA", "EVAL", "SETNX", "EXPIRE", "GET", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return &token{polling: polling{env: env, client: client, seen: seen}, objects: map[string]*object{}}
		}),
	}
}

func optionsDesign() design.Design {
	return design.Design{
		Name:    "lua-token/options",
		Summary: "SET NX PX of a random token by a lock object, whose second lock refreshes or, if it was lost, silently takes it anew; compare-and-delete",
		Source:  "notes on redis-lock and redislock, first generation",
		// Not loss-reported: locking anew hides that others were inside. Lease, refreshed
		// or not. After an unlock that was given up the object still has its token, a
		// refresh succeeds, and the unlock, arriving late, frees the lock that was just
		// refreshed. Its answers under lost replies are true: an error is no refusal.
		Claims: lockbench.LeaseClaims().Without(lockbench.LossReported).But(reused(), lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.LeaseKept, lockbench.Recovery}, Under: lockbench.LostReply,
			Why: "after an unlock whose reply was lost the object still has its token and may refresh it, and the unlock, arriving late, frees what was refreshed",
		}),
		Reacquire: design.Refreshed,
		Granted:   design.WholeMillis,
		Commands:  []string{"SET", "EVALSHA", "EVAL", "GET", "PEXPIRE", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return &options{env: env, client: client, seen: seen, locks: map[string]*optionsLock{}}
		}),
	}
}

func strategyDesign() design.Design {
	return design.Design{
		Name:    "lua-token/strategy",
		Summary: "SET NX PX of a fresh random token, retried by a strategy; extended and released by scripts that compare the token",
		Source:  "notes on redis-lock and redislock, second generation",
		// It keeps all guarantees of a lease on one server: every grant has a token of
		// its own, so no late request with an earlier token can touch it, and only the
		// server's clock counts.
		Claims:    lockbench.LeaseClaims(),
		Reacquire: design.Refused,
		Granted:   design.WholeMillis,
		Commands:  []string{"SET", "EVALSHA", "EVAL", "GET", "PEXPIRE", "PTTL", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return strategy{newObtainer(env, client, seen)}
		}),
	}
}

// fencedDesign claims the same as strategy, and that its grants are numbered.
func fencedDesign() design.Design {
	d := strategyDesign()
	d.Name = "lua-token/fenced"
	d.Summary = "strategy, whose script also numbers the grant, so that a guarded store can refuse who was overtaken"
	d.Source = "ours, after redislock"
	d.Claims = d.Claims.With(lockbench.Fencing)
	d.Fences = true
	d.Commands = append(d.Commands, "INCR", "TIME")
	d.Open = onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
		return newFenced(env, client, seen)
	})
	return d
}

// batchedDesign claims the same as strategy: it sends the same commands.
func batchedDesign() design.Design {
	d := strategyDesign()
	d.Name = "lua-token/batched"
	d.Summary = "strategy on a client that sends in one write what its process's owners ask for at the same time (rueidis, one connection a process)"
	d.Source = "ours, after redislock; client github.com/redis/rueidis"
	d.LiveOnly = "its client's goroutines wait for mutexes while a command is under way"
	d.Open = onredis.Open(openBatched)
	return d
}

// reused is the fault of a token that belongs to a lock object rather than to one grant.
func reused() lockbench.Exception {
	return lockbench.Exception{
		Gives: []lockbench.Guarantee{
			lockbench.Exclusion, lockbench.LeaseKept, lockbench.OwnerRelease, lockbench.Effects,
		},
		Under: lockbench.Cancel,
		Lasts: true,
		Why:   "the next lock of the object has the same token, so an unlock that was given up and arrives late frees it",
	}
}
