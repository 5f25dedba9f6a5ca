package servers

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestHomesStayShortEnoughForASocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sockets there")
	}
	t.Setenv("TMPDIR", "/tmp/"+strings.Repeat("long", 20))
	if got := tempBase(); got != "/tmp" {
		t.Errorf("base %q, want /tmp", got)
	}
	t.Setenv("TMPDIR", "/tmp/short")
	if got := tempBase(); got != "/tmp/short" {
		t.Errorf("base %q, want the one that was set", got)
	}
}

func TestLeftoversAreClearedAndNothingElse(t *testing.T) {
	base := t.TempDir()
	used, err := newHome(base)
	if err != nil {
		t.Fatal(err)
	}
	left, err := newHome(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.lock.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(base, "lockbench-servers")
	linked := filepath.Join(base, homePrefix+"link")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(foreign, linked); err != nil {
		t.Fatal(err)
	}
	clearLeftovers(t.Context(), base)
	for path, want := range map[string]bool{used.path: true, left.path: false, foreign: true, linked: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
	if err := used.remove(); err != nil {
		t.Error(err)
	}
}

// TestAnOrphanIsEnded is what happens where the system does not end a child with
// its parent: the home is unlocked, and its server still runs.
func TestAnOrphanIsEnded(t *testing.T) {
	program, err := findProgram()
	if err != nil {
		t.Skip(err)
	}
	base := tempBase()
	orphan, err := newHome(base)
	if err != nil {
		t.Fatal(err)
	}
	s, err := startIn(t.Context(), orphan, program)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := orphan.lock.Close(); err != nil {
		t.Fatal(err)
	}
	clearLeftover(context.Background(), orphan.path)
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Error("the orphan lives on")
	}
}
