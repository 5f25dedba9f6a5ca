package locktest_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/locktest"
	"github.com/lockbench/lockbench/locktest/testdata/outside"
)

// outsideLocks are the locks of the module in testdata/outside, with the cell that
// Explore and Run find broken, empty for none: one lock is sound, five are not.
var outsideLocks = map[string]struct {
	lock         func(*redis.Client) outside.Mutex
	explore, run string // cells
}{
	"Sound":      {outside.Sound, "", ""},
	"PlainDel":   {outside.PlainDel, "owner-release", "owner-release@outlived"},
	"NoLease":    {outside.NoLease, "recovery@crash", "recovery@crash"},
	"Seconds":    {outside.Seconds, "", "lease"}, // explored with leases of whole seconds
	"Silent":     {outside.Silent, "loss-reported@outlived", "loss-reported@outlived"},
	"GetThenSet": {outside.GetThenSet, "exclusion", "exclusion"},
}

// TestOutsideLocks tests them as part of lockbench, in virtual time.
func TestOutsideLocks(t *testing.T) {
	for name, c := range outsideLocks {
		t.Run(name+"/Run", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := redis.NewClient(servertest.Virtual(t, 1))
				t.Cleanup(func() { _ = client.Close() })
				var options []locktest.RunOption
				if c.run != "" {
					options = append(options, locktest.WithCases(cellOf(t, c.run)))
				}
				trial := tried(t, func() (lockbench.Locker, error) { return outside.Locker{Mutex: c.lock(client)}, nil }, options...)
				wantFailed(t, c.run, trial.Err(), func(cell lockbench.Cell) bool { return testOf(trial, cell).Err != nil })
			})
		})
	}
	t.Run("Explore", func(t *testing.T) {
		if testing.Short() {
			t.Skip("searches take their time")
		}
		if !alone(t, 300, 300) {
			return
		}
		for name, c := range outsideLocks {
			t.Run(name, func(t *testing.T) {
				r, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
					return outside.Locker{Mutex: c.lock(env.Redis)}
				})
				if err != nil {
					t.Fatal(err)
				}
				wantFailed(t, c.explore, r.Err(), func(cell lockbench.Cell) bool { return testOf(r, cell).Against > 0 })
			})
		}
	})
}

// wantFailed asserts that cell fails, or that there is no error if cell is empty.
func wantFailed(t *testing.T, cell string, err error, fails func(lockbench.Cell) bool) {
	t.Helper()
	switch {
	case cell == "" && err != nil:
		t.Errorf("got %v, want no error", err)
	case cell != "" && !fails(cellOf(t, cell)):
		t.Errorf("%s did not fail, but: %v", cell, err)
	}
}

// TestOutsideModule tests the locks as part of another module, in a folder of its own.
// Run uses a real server there.
func TestOutsideModule(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("builds a program, and takes its time")
	}
	server := servertest.Start(t)
	t.Parallel()
	dir := t.TempDir()
	outsideModule(t, dir)
	if err := os.CopyFS(dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-v", "-parallel=6", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "TMPDIR="+t.TempDir(),
		"REDIS_SOCKET="+server.Options().Addr, "LOCKBENCH_BUDGET=300", "LOCKBENCH_HISTORY="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("all passed, want five locks to fail")
	}
	want := map[string]string{}
	for name, c := range outsideLocks {
		want[name+"/Explore"], want[name+"/Run"] = c.explore, c.run
	}
	if diff := cmp.Diff(failures(string(out), want), want); diff != "" {
		t.Errorf("what fails where (-got +want):\n%s\n%s", diff, out)
	}
}

// outsideModule makes dir the folder of a module that uses lockbench. Its requirements
// are lockbench's, at the same versions, plus the lines of more, so that nothing else
// has to be fetched.
func outsideModule(t *testing.T, dir string, more ...string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module github.com/lockbench/lockbench", "module example.org/outside", 1) +
		"\nrequire github.com/lockbench/lockbench v0.0.0\nreplace github.com/lockbench/lockbench => " + root + "\n" + strings.Join(more, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../go.sum")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var outcome = regexp.MustCompile(`--- (PASS|FAIL): Test(\w+/(?:Explore|Run))(?:/(\S+))? `)

// failures says for each wanted test whether it failed in the wanted cell, or names
// the cells in which it failed instead.
func failures(out string, want map[string]string) map[string]string {
	failed := map[string][]string{}
	for _, m := range outcome.FindAllStringSubmatch(out, -1) {
		failed[m[2]] = append(failed[m[2]], "")
		if m[1] == "FAIL" && m[3] != "" {
			failed[m[2]] = append(failed[m[2]], m[3])
		}
	}
	got := map[string]string{}
	for _, test := range slices.Sorted(maps.Keys(failed)) {
		got[test] = strings.Join(slices.DeleteFunc(slices.Compact(failed[test]), func(g string) bool { return g == "" }), ",")
		if want[test] != "" && slices.Contains(failed[test], want[test]) {
			got[test] = want[test]
		}
	}
	return got
}
