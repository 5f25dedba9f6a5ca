package setnxgetset

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// Designs returns the family: setnx-getset/naive, expiry and timestamp.
func Designs() []design.Design {
	return []design.Design{naiveDesign(), expiryDesign(), timestampDesign()}
}

func naiveDesign() design.Design {
	return design.Design{
		Name:    "setnx-getset/naive",
		Summary: "SETNX, then EXPIRE as a second command; released by a plain DEL",
		Source:  "A distributed lock with Redis, stage 1",
		// No guarantee that a plain DEL, or a death between the two commands, can break. Not
		// lease: an EXPIRE for a key that was deleted in between applies to the next holder's,
		// and may shorten it. The rest holds: every key on the server was granted or has an
		// unknown outcome, and the server answers, independent of clocks.
		Claims: lockbench.Claims{
			Keeps:    []lockbench.Guarantee{lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.WakeUp},
			Survives: lockbench.Survivable,
		},
		Reacquire: design.Refused,
		Granted:   design.WholeSeconds,
		Commands:  []string{"SETNX", "EXPIRE", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return &naive{env: env, client: client, seen: seen}
		}),
	}
}

func expiryDesign() design.Design {
	return design.Design{
		Name:    "setnx-getset/expiry",
		Summary: "SETNX of the expiry time by the client's clock, which GETSET takes over once it is past; released by a plain DEL",
		Source:  "A distributed lock with Redis, stage 2",
		// The plain DEL breaks exclusion, owner-release, loss-reported and effects; the loser's
		// GETSET breaks lease and no-spurious-refusal; the caught exceptions break answers.
		// Recovery is its purpose; skewed clocks delay it by as much.
		Claims: lockbench.Claims{
			Keeps:    []lockbench.Guarantee{lockbench.Recovery},
			Survives: lockbench.Survivable &^ lockbench.Skew,
			Also:     []lockbench.Cell{lockbench.Recovery.At(lockbench.Skew)},
			Except: []lockbench.Exception{
				{Gives: []lockbench.Guarantee{lockbench.Recovery}, Under: lockbench.LostReply, Why: "a lost reply is answered as a refusal while the lock stays set, if need be without EXPIRE"},
				{Gives: []lockbench.Guarantee{lockbench.Recovery}, Under: lockbench.Cancel, Why: "a key left without EXPIRE outlives its lease by the tolerance"},
			},
		},
		Reacquire: design.Refused,
		Granted:   design.WholeSeconds,
		Tolerance: clockTolerance,
		Commands:  []string{"SETNX", "GET", "GETSET", "EXPIRE", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return &expiry{env: env, client: client, seen: seen}
		}),
	}
}

func timestampDesign() design.Design {
	return design.Design{
		Name:    "setnx-getset/timestamp",
		Summary: "SET NX EX of the acquire time in whole seconds, which GETSET takes over once it is a time-out old; released by GET, then DEL",
		Source:  "notes on a Redis lock against overselling",
		// Whole seconds break exclusion, lease, loss-reported and effects; GET-then-DEL breaks
		// owner-release; restamping breaks no-spurious-refusal. A key without expiry is free a
		// time-out after its stamp, whichever client died or gave up, so recovery holds; skewed
		// clocks delay it by as much. Errors are passed on, so answers holds, too.
		Claims: lockbench.Claims{
			Keeps:    []lockbench.Guarantee{lockbench.Answers, lockbench.Recovery},
			Survives: lockbench.Survivable &^ lockbench.Skew,
			Also:     []lockbench.Cell{lockbench.Recovery.At(lockbench.Skew)},
			Except: []lockbench.Exception{{
				Gives: []lockbench.Guarantee{lockbench.Recovery}, Under: lockbench.LostReply,
				Why: "a GETSET whose reply was lost and which arrives late stamps the key anew, whoever has it by then",
			}},
		},
		Reacquire: design.Refused,
		Granted:   design.WholeSeconds,
		Commands:  []string{"SET", "GET", "GETSET", "EXPIRE", "DEL"},
		Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, seen design.Observer) lockbench.Locker {
			return &timestamp{env: env, client: client, seen: seen}
		}),
	}
}
