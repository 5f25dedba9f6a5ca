package servers

import (
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

// TestAnOrphanIsEnded simulates a system that does not end a child with its
// parent: the home is unlocked, and its server still runs.
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
	if err := orphan.Abandon(); err != nil {
		t.Fatal(err)
	}
	clearLeftovers(t.Context(), base)
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Error("the orphan lives on")
	}
}
