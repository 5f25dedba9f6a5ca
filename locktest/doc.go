// Package locktest tests distributed locks of any library, in two ways: in real time and in virtual
// time. A lock takes part in both through an adapter to [lockbench.Locker] of a few lines. Either
// reports every cell that was tested, a guarantee under conditions, as a subtest: a cell that the lock
// claims and breaks fails, with the evidence, unless a file accepts that ([WithAccepted]). The other
// cells are listed with their reasons, and one line sums up. "exclusion@crash" is exclusion while a process died.
//
//	                in real time   in virtual time
//	fails a test    Run            Explore
//	returns Result  Try            Check
//
// # In real time
//
// [Run] lets owners of any lock, on any service, compete for keys, lose them to the end of leases,
// give up and abandon. From the answers of the lock it judges which guarantees held. It takes some
// seconds.
//
//	func TestLock(t *testing.T) {
//		locktest.Run(t, func(t *testing.T) lockbench.Locker {
//			return adapter{mylock.New(connect(t))}
//		})
//	}
//
// [Try] is the same without a test, and returns a [Result].
//
// # In virtual time
//
// [Explore] tests a lock on go-redis as a fuzzer tests a parser: it runs the lock's own code
// against an embedded Redis, and decides which command runs next, whether time passes and which
// faults happen. It needs no server, and finds breaches that take a certain interleaving or a
// fault.
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
// Waits are made of single tries, so that the start of each lease is known; a lock that waits as
// [lockbench.Options] says waits by itself in the programs about waiting.
//
// The lock runs in this process, within testing/synctest. It must not block outside of it: a
// goroutine that waits for a [sync.Mutex] while the mutex's holder waits for the server stops
// virtual time, and the test with it. A goroutine of the library that panics ends the test binary.
// One that never ends fails the test, which names its line: Close, or t.Cleanup, has to end it.
//
// [Check] is the same without subtests, and returns a [Result].
//
// # Results
//
// A [Result] has the same form for both: the finding on each cell, which is the finding of
// [github.com/lockbench/lockbench/checker], and the test of each cell, with the error if it fails,
// the reason if it was skipped, and the history or the schedule that shows the verdict. Only the
// unit of the violations differs: Try counts occasions, Check counts schedules. [Result.Err] has
// the errors that Run or Explore would fail with.
//
// # Settings
//
// The type of an option says which test takes it: a [RunOption] is for Run and Try, an
// [ExploreOption] for Explore and Check, an [Option] for all of them.
//
// The environment has these settings:
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
// By default a lock is held to [lockbench.LeaseClaims], the guarantees that a lease on one server
// can keep, with fencing and release-delay if its leases have the ability for them. The rules on
// what owners are told and do after a loss do not apply to a lock that renews its leases by itself,
// as a first look at it shows or [WithRenewal] declares. [WithSession] declares a lock without a
// lease, [WithWaking] or [WithPolling] one that wakes its waiters or lets them poll, and
// [WithTimeout] one that gives its tries up. [Run] prints the declarations. A claim that no lock
// can be held to here, such as exclusion@failover, is listed with the reason. Errors that prove
// nothing against the lock wrap [ErrUntested].
package locktest
