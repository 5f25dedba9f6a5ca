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

// A NewLocker makes one owner of the lock under test: what its library creates for
// one client. It is called for each owner of each schedule, some thousand times,
// within a bubble of testing/synctest: t is the bubble's, so its Run, Parallel and
// Deadline must not be called, and its clean-ups run when the bubble ends.
//
// A Locker that is an [io.Closer] is closed when its process ends. It must then end
// what it does in the background.
type NewLocker = func(t *testing.T, env Env) lockbench.Locker

// An Env is what an owner may touch. Nothing else is under control: not the global
// clock (which is virtual, but never skewed), and of random sources crypto/rand is.
type Env struct {
	// Redis reaches the server. The owners of one process share it; its options are
	// those for a lock library that builds its own client. It never sends a command again whose connection broke, but in
	// the last program, where it does so 3 times, as go-redis does by default: see [WithClientRetries].
	Redis *redis.Client
	// Dial opens one more connection to the server, for a library with a client of
	// its own. The arguments are not looked at.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Owner names the owner, unlike every other of the schedule. It begins with the name of another, so that a lock
	// shows that compares only a part of it.
	Owner string
	// Now is the clock of the owner's process. Faults may skew it.
	Now func() time.Time
	// Random is a source of random bytes that a seed decides, safe for concurrent
	// use.
	Random io.Reader
}

// Explore looks for a schedule that breaks the lock and reports each cell, a guarantee
// under conditions, as a subtest of t: it passes when it held, fails when it is claimed and
// was broken or stayed untested, and is skipped, with the reason, when the lock lacks the
// ability, nothing exercised it, or it broke without being claimed.
//
// Of several that fail, the one to start with comes first, with its schedule: that under the
// fewest conditions, with the fewest steps. The others have theirs as files.
//
// It fails t itself when the lock cannot be explored at all, and skips it when the lock needs
// a command that the server of an exploration lacks. See the package's
// documentation for its settings.
func Explore(t *testing.T, newLocker NewLocker, options ...Option) {
	t.Helper()
	r, err := Check(t, newLocker, options...)
	if errors.Is(err, errLacking) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Covered())
	t.Logf("made with go-redis %s: the newest that any module of this test asks for, as Go chooses them", redis.Version())
	if err := r.contradiction(); err != nil {
		t.Error(err)
	}
	for _, f := range r.ordered() {
		t.Run(f.Cell.String(), func(t *testing.T) {
			t.Helper() // a failure is one of the line that calls Explore
			r.report(t, f)
		})
	}
}

// report ends the subtest of f.
func (r Result) report(t *testing.T, f Finding) {
	t.Helper()
	if r.judge(f) != nil && f.schedule != nil {
		file, err := r.keep(f)
		if err != nil {
			t.Logf("the schedule is not kept: %v; as a file it is:\n%s", err, f.Replay())
		}
		f.file = file
	}
	switch err := r.judge(f); {
	case err != nil:
		t.Error(err)
	case r.passed(f):
		t.Log(r.text(f))
	default:
		t.Skip(r.text(f))
	}
}
