package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The bounds of what package initialization of this program may allocate. A table that is parsed at
// start instead of at its first use, such as the released matrix, exceeds them: every command would
// pay for it.
const (
	ourInitBytes = 1 << 20
	allInitBytes = 6 << 20
)

// TestStartAllocatesLittle bounds the memory that package initialization takes, as the runtime's own
// trace tells it. Time would depend on the machine.
func TestStartAllocatesLittle(t *testing.T) {
	cmd := exec.Command("lockbench", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &trace)
	}
	var ours, all int
	for line := range strings.Lines(trace.String()) {
		f := strings.Fields(line) // init PACKAGE @T ms, D ms clock, N bytes, M allocs
		if len(f) < 9 || f[0] != "init" {
			continue
		}
		n, err := strconv.Atoi(f[7])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all += n
		if strings.HasPrefix(f[1], "github.com/lockbench/lockbench") {
			ours += n
		}
	}
	if ours == 0 || ours > ourInitBytes || all > allInitBytes {
		t.Errorf("packages of lockbench allocate %d bytes at start, all packages %d; want at most %d and %d, and not zero", ours, all, ourInitBytes, allInitBytes)
	}
}
