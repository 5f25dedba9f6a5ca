package locktest

import (
	"testing"

	"github.com/lockbench/lockbench"
)

// Run tests a lock in real time, on any service that newLocker connects it to, and
// reports each cell, a guarantee under conditions, as a subtest of t: it passes when it
// held, fails when it is claimed and was broken or stayed untested, or when the lock
// panicked or did not come back from a call, and is skipped, with the reason, otherwise. Cells that are
// not for the lock, or that nothing here can test, are listed in the log, whose last line sums up.
// What stayed untested because the machine stood still is skipped ([WithRequired] makes it fail),
// unless no claim was tested.
//
// newLocker makes one owner: the object that the lock's library creates for one client.
// The test's own goroutine calls it for some eighty owners, so that it may call t.Fatal.
// A Locker that is an [io.Closer] is closed when its owner ends. A lock that renews its
// leases by itself has to be one, and Close has to end the renewal.
//
// A sound lock passes on a slow machine, too: only two conclusions are drawn from the
// time that something took. A call has to return within five seconds of the end of its
// context ([WithPatience]), and a key must not be refused more than a second after every
// lease is over ([WithTolerance]). If the machine is too slow to tell, cells stay
// untested.
//
// Keys have names that no other run uses; none is left held for longer than twenty
// leases. A failed case keeps its history, for lockbench check.
func Run(t *testing.T, newLocker func(t *testing.T) lockbench.Locker, options ...RunOption) {
	t.Helper()
	if testing.Short() {
		options = append(options, WithShort())
	}
	options = append(options, runOption(func(s *runSettings) { s.name = t.Name() }))
	r, err := Try(t.Context(), func() (lockbench.Locker, error) { return newLocker(t), nil }, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	r.report(t)
}
