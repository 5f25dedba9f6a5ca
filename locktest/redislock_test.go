package locktest_test

import (
	"testing"

	"github.com/lockbench/lockbench/locktest"
)

// TestRedislock explores github.com/bsm/redislock v0.10.0, unmodified.
func TestRedislock(t *testing.T) {
	if testing.Short() {
		t.Skip("starts no goroutines, unlike redsync")
	}
	if alone(t, 600, 2000) {
		locktest.Explore(t, newRedislock)
	}
}
