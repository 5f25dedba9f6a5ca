package locktest_test

import (
	"testing"

	"github.com/bsm/redislock"
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// redislockLocker stands for the adapter that makes a library's client a
// lockbench.Locker; in redislock_test.go it has some twenty lines.
func ExampleExplore() {
	TestMyLock := func(t *testing.T) {
		locktest.Explore(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
			return redislockLocker{redislock.New(env.Redis)}
		})
	}
	_ = TestMyLock // go test runs it
}
