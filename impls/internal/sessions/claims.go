package sessions

import "github.com/lockbench/lockbench"

// Claims returns the claims of a lock that lasts as long as its session. A server that was restarted,
// that lost the connection, or that ended the session frees the key while its owner works on.
//
// Exclusion is given up under LostReply, because a history does not tell when the session of an owner
// ended: a connection that others break is recorded when a client finds it broken, for all clients of
// its process.
func Claims() lockbench.Claims {
	c := lockbench.Claims{
		Keeps: []lockbench.Guarantee{
			lockbench.Exclusion, lockbench.OwnerRelease, lockbench.LossReported, lockbench.Answers,
			lockbench.NoSpuriousRefusal, lockbench.Recovery, lockbench.Effects, lockbench.WakeUp,
		},
		Survives: lockbench.Survivable,
		Except: []lockbench.Exception{
			{
				Gives: []lockbench.Guarantee{lockbench.Recovery}, Under: lockbench.ThreadDeath,
				Why: "the server ends the session of a process that ended, not that of a thread",
			},
			{
				Gives: []lockbench.Guarantee{lockbench.Exclusion, lockbench.Effects}, Under: lockbench.LostReply,
				Why: "a session ends with its connection, while its owner works on",
			},
		},
	}
	for _, g := range []lockbench.Guarantee{lockbench.OwnerRelease, lockbench.LossReported, lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.Recovery} {
		c.Also = append(c.Also, g.At(lockbench.StateLoss), g.At(lockbench.SessionKilled))
	}
	return c
}
