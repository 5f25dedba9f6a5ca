package locktest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// TestOlderRedislock explores v0.9.4 of github.com/bsm/redislock from a module of its own,
// as a user of locktest would: with the adapter of TestRedislock, which is for the version
// that lockbench has.
func TestOlderRedislock(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("it builds another module")
	}
	t.Parallel()
	dir := t.TempDir()
	outsideModule(t, dir, "replace github.com/bsm/redislock => github.com/bsm/redislock v0.9.4")
	for name, from := range map[string]string{
		"adapter_test.go": "redislockadapter_test.go", "lock_test.go": "testdata/redislock-v0.9.4.txt",
	} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "LOCKBENCH_BUDGET=2000")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
