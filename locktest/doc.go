// Package locktest tests a distributed lock on go-redis the way a fuzzer tests a
// parser: [Explore] runs the lock's own code in virtual time against an embedded
// Redis, decides whose command runs next, whether time passes and what goes wrong,
// and judges from what the clients were told which guarantees held. A lock takes
// part by an adapter to [lockbench.Locker] of a few lines.
//
//	func TestLock(t *testing.T) {
//		locktest.Explore(t, func(t *testing.T, env locktest.Env) lockbench.Locker {
//			return adapter{mylock.New(env.Redis)}
//		})
//	}
//
// Every guarantee is a subtest, named after it: one that the lock claims and breaks
// fails and shows the schedule that breaks it, step by step. The schedule is also
// written to testdata/lockbench, and run first from then on, like the corpus of a
// fuzz test: commit it.
//
// What is explored can be set in the environment:
//
//	LOCKBENCH_SEED    decides every random choice; default 1
//	LOCKBENCH_BUDGET  how long to search ("30s") or for how many schedules ("20000"),
//	                  all scenarios together; default 10s, with -short 2s
//	LOCKBENCH_CLAIMS  guarantees to hold the lock to ("exclusion,recovery"), or what to
//	                  add to and take from the default ("+reentrancy,-skew")
//	LOCKBENCH_REPLAY  a file of a schedule: it alone is run
//
// By default a lock is held to what a lease on one server can keep: all but overrun,
// restart, failover and reentrancy, and of fencing, extend and release-delay what
// its leases have the ability for. A lock that renews its leases by itself, as a first
// look at it shows, is not asked what its owners are told and do after a loss.
//
// The lock runs in this process, within testing/synctest. It must not block outside
// of it: a goroutine that waits for a [sync.Mutex] whose holder waits for the server
// stops virtual time, and the test with it; one that panics or is never to end takes
// the test binary with it.
package locktest
