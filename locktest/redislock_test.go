package locktest_test

import (
	"testing"

	"github.com/lockbench/lockbench/locktest"
)

// TestRedislock explores github.com/bsm/redislock v0.10.0, unmodified.
func TestRedislock(t *testing.T) {
	budget(t, "4500")
	locktest.Explore(t, newRedislock)
}
