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

	"github.com/google/go-cmp/cmp"
	"github.com/lockbench/lockbench/internal/servertest"
)

// TestOutsideModule tests the locks of a module that is not lockbench's, in a folder
// of its own, by both doors: one is sound, five are not.
func TestOutsideModule(t *testing.T) {
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
	want := map[string]string{
		"Sound/Explore": "", "Sound/Run": "",
		"PlainDel/Explore": "owner-release", "PlainDel/Run": "owner-release",
		"NoLease/Explore": "recovery", "NoLease/Run": "recovery",
		"Seconds/Explore": "", "Seconds/Run": "no-early-expiry", // explored with leases of whole seconds
		"Silent/Explore": "loss-reported", "Silent/Run": "loss-reported",
		"GetThenSet/Explore": "exclusion", "GetThenSet/Run": "exclusion",
	}
	if diff := cmp.Diff(failures(string(out), want), want); diff != "" {
		t.Errorf("what fails where (-got +want):\n%s\n%s", diff, out)
	}
}

// outsideModule makes dir the folder of a module that uses lockbench. Its requirements
// are lockbench's, at the same versions but for what else go.mod is to say: nothing more
// is to be fetched.
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

// failures tells of each test that is wanted whether it failed in the guarantee that
// it was to fail in, or which it failed in instead.
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
