package locktest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/locktest"
)

// TestRunRedislock tests github.com/bsm/redislock v0.10.0, unmodified, in real time. The lock is
// held only to the cells that even a slow machine can test, and no record may break a guarantee
// that a lock on one server can keep; TestTryPassesSoundLocks wants every guarantee tested, in
// virtual time.
func TestRunRedislock(t *testing.T) {
	opt := servertest.Start(t).Options()
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = time.Minute, time.Minute, time.Minute
	client := redis.NewClient(opt)
	t.Cleanup(func() { _ = client.Close() })
	t.Parallel()
	dir := t.TempDir()
	locktest.Run(t, func(*testing.T) lockbench.Locker { return redislockLocker{redislock.New(client)} },
		locktest.WithClaims("no-spurious-refusal"), locktest.WithPatience(time.Minute), locktest.WithHistories(dir))
	files, err := filepath.Glob(filepath.Join(dir, "TestRunRedislock-*.lbh"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d histories, error %v", len(files), err)
	}
	claims := lockbench.LeaseClaims() // not all of them have to be tested, but none may be broken
	for _, file := range files {
		r := judgedAgain(t, file)
		if r.Grants == 0 || len(r.Defects) > 0 {
			t.Errorf("%s: %d grants, defects %q", file, r.Grants, r.Defects)
		}
		for _, f := range r.Findings {
			if f.Verdict == checker.Broken && claims.Claims(f.Cell) {
				t.Errorf("%s: %s is broken: %s", file, f.Cell, f.Counterexample.Sentence)
			}
		}
	}
}

// runVariable makes TestRunChild, which the test below runs in another process, test an unsound
// lock.
const runVariable = "LOCKTEST_RUN"

func TestRunChild(t *testing.T) {
	if os.Getenv(runVariable) == "" {
		t.Skip("for the child of TestRun only")
	}
	var trial locktest.Result
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{release: plainDel})
		var err error
		trial, err = locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil }, locktest.WithTTL(100*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
	})
	locktest.Report(t, trial)
}

// TestRun checks the output of go test for an unsound lock, and follows its advice.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases to end")
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunChild$", "-test.v")
	cmd.Env = append(os.Environ(), runVariable+"=1", "LOCKBENCH_HISTORY="+t.TempDir(), "LOCKBENCH_SEED=3")
	out, err := cmd.CombinedOutput()
	wantOutput(t, string(out), err, true, []string{
		`--- FAIL: TestRunChild/owner-release@outlived`, `RUN +TestRunChild/owner-release@outlived\n +` + placeOf(t, "run_test.go", "locktest.Report(t, trial)") + `: owner-release@outlived: broken;`,
		`--- PASS: TestRunChild/no-spurious-refusal`, `\n +exclusion@state-loss: .*no test can do`, `with leases of 100ms and seed 3\n`,
	})
	again := regexp.MustCompile(`judge it again: lockbench check (\S+late-release\.lbh)\n`).FindStringSubmatch(string(out))
	if again == nil {
		t.Fatalf("no command to judge it again:\n%s", out)
	}
	if f := judgedAgain(t, again[1]).Find(lockbench.OwnerRelease.At(lockbench.Outlived)); f.Verdict != checker.Broken {
		t.Errorf("%s: judged again owner-release@outlived is %v, want broken", again[1], f.Verdict)
	}
}
