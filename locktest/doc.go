// Package locktest tests the distributed locks of others. It has two doors, and a lock
// takes part in both by an adapter to [lockbench.Locker] of a few lines. Behind
// either, every cell, a guarantee under conditions, is a subtest: one that the lock claims
// and breaks fails and shows how. "exclusion@crash" is exclusion where a process died.
//
// # In real time
//
// [Run] has owners of any lock, on whatever service, compete for keys, lose them to
// the end of leases, give up and abandon, and judges from what they were told which
// guarantees held. It takes some seconds.
//
//	func TestLock(t *testing.T) {
//		locktest.Run(t, func(t *testing.T) lockbench.Locker {
//			return adapter{mylock.New(connect(t))}
//		})
//	}
//
// [Try] is the same without a test, and returns what it found.
//
// # In virtual time
//
// [Explore] tests a lock on go-redis the way a fuzzer tests a parser: it runs the
// lock's own code against an embedded Redis, decides whose command runs next, whether
// time passes and what goes wrong. It needs no server, and finds what takes a certain
// interleaving or a fault.
//
//	func TestLock(t *testing.T) {
//		locktest.Explore(t, func(t *testing.T, env locktest.Env) lockbench.Locker {
//			return adapter{mylock.New(env.Redis)}
//		})
//	}
//
// A schedule that breaks the lock is printed step by step, written to
// testdata/lockbench, and run first from then on, like the corpus of a fuzz test:
// commit it.
//
// Waits are made of single tries, whose leases are known to begin with them; a lock that waits
// as [lockbench.Options] says does so by itself where that is the subject.
//
// The lock runs in this process, within testing/synctest. It must not block outside
// of it: a goroutine that waits for a [sync.Mutex] whose holder waits for the server
// stops virtual time, and the test with it; one that panics or is never to end takes
// the test binary with it.
//
// # Settings
//
// What is done can be set in the environment:
//
//	LOCKBENCH_SEED     decides every random choice; default 1
//	LOCKBENCH_CLAIMS   what to hold the lock to ("exclusion recovery"), or what to add to
//	                   and take from it ("+exclusion@outlived -lease@cancel"), as
//	                   lockbench.Claims.Parse reads it
//	LOCKBENCH_TTL      Run: the lease to ask for, and a few times as much; default 1s
//	LOCKBENCH_HISTORY  Run: a folder for the histories of all cases; by default those
//	                   that show a failure are kept, in a temporary folder
//	LOCKBENCH_BUDGET   Explore: how long to search ("30s") or for how many schedules
//	                   ("20000"), all scenarios together; default 10s, with -short 2s
//	LOCKBENCH_REPLAY   Explore: a file of a schedule: it alone is run
//
// By default a lock is held to [lockbench.LeaseClaims], what a lease on one server can keep,
// with fencing and release-delay if its leases have the ability for them. A lock that renews
// its leases by itself, as a first look at it shows or [WithRenewal] declares, is not asked what its
// owners are told and do after a loss. A lock without a lease is declared by [WithSession],
// one that wakes its waiters or has them poll by [WithWaking] or [WithPolling], and one that gives its tries up by
// [WithTimeout]. [Run] prints what is declared. A claim that no lock here can be held to, such as
// exclusion@failover, is skipped, with the reason. Errors that hold nothing against the lock wrap [ErrUntested].
package locktest
