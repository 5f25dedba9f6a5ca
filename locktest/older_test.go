package locktest_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestOlderRedislock explores v0.9.4 of github.com/bsm/redislock from a module of its
// own, as a user of locktest would.
func TestOlderRedislock(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds another module")
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "./...")
	cmd.Dir = "testdata/redislock-v0.9.4"
	cmd.Env = append(os.Environ(), "LOCKBENCH_BUDGET=4500")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
