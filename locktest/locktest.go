package locktest

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
)

// A NewLocker makes one owner of the lock under test: the object that its library creates for one
// client. It is called for each owner of each schedule, some thousand times, within a bubble of
// testing/synctest: t is the bubble's, so its Run, Parallel and Deadline must not be called, and
// its clean-ups run when the bubble ends.
//
// A Locker that is an [io.Closer] is closed when its process ends. It must then end its work in the
// background.
type NewLocker = func(t *testing.T, env Env) lockbench.Locker

// An Env is the part of the world that an owner may touch. Nothing else is under control, with two
// exceptions: the global clock is virtual, although never skewed, and the seed decides crypto/rand,
// but no other random source.
type Env struct {
	// Redis reaches the server. The owners of one process share it; its options suit a lock library
	// that builds its own client. It never sends a command again after its connection broke, except
	// in the last program. There it tries again up to 3 times, the default of go-redis: see
	// [WithClientRetries].
	Redis *redis.Client
	// Dial opens one more connection to the server, for a library with a client of its own. It
	// ignores its arguments.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Owner is the name of the owner, unique in the schedule (but see [WithSuccessor]). It begins with the name of another
	// owner, so that a lock that compares only a part of it is caught.
	Owner string
	// Now is the clock of the owner's process. Faults may skew it.
	Now func() time.Time
	// Random is a source of random bytes that a seed decides, safe for concurrent
	// use.
	Random io.Reader
}

// Explore looks for a schedule that breaks the lock and reports each cell, a guarantee
// under conditions, as a subtest of t: it passes when it held, fails when it is claimed and
// was broken, and is skipped, with the reason, when the schedules had no occasion for it
// ([WithRequired] makes that fail), or it broke without being claimed or is accepted ([WithAccepted]).
// Cells for which the lock lacks the ability, and others that nothing tried, are listed in the log,
// whose last line sums up. If no claim was tested at all, each fails.
//
// If several are broken, the one to start with comes first, see [checker.Cells.First]. A cell that is
// broken by the same cause ([Test.Cause]) is skipped once the subtest of its cause has failed, so
// that each fault fails one subtest.
//
// It fails t itself when the lock cannot be explored at all, and skips it when the lock needs
// a command that the server of an exploration lacks. See the package's
// documentation for its settings.
func Explore(t *testing.T, newLocker NewLocker, options ...ExploreOption) {
	t.Helper()
	r, err := Check(t, newLocker, options...)
	if errors.Is(err, errLacking) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	t.Logf("made with go-redis %s: the newest that any module of this test asks for, as Go chooses them", redis.Version())
	r.report(t)
}
