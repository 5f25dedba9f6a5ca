package locktest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// TestNestedModule tests a library with an old Go and an old go-redis, from a module within its
// own, by the steps of docs/testing.md: the library's go.mod stays unchanged, and the test reports
// the version of go-redis that it was built with.
func TestNestedModule(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("it builds another module")
	}
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/nested")); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, step := range []string{
		"go mod init example.org/stock/locktest",
		"go mod edit -replace example.org/stock=..",
		"go mod edit -replace github.com/lockbench/lockbench=" + root, // as long as no version is published
		"go mod tidy",
		"go test -v .",
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", step)
		cmd.Dir = filepath.Join(dir, "locktest")
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "LOCKBENCH_BUDGET=400")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", step, err, text)
		}
		out = string(text)
	}
	if want := "go-redis " + redis.Version(); !strings.Contains(out, want) || !strings.Contains(out, "--- PASS: TestLock/exclusion ") {
		t.Errorf("want %q and a lock that passes:\n%s", want, out)
	}
	after, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the library's go.mod is another now: %v\n%s", err, after)
	}
}
