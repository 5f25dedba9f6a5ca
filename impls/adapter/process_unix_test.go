//go:build unix

package adapter_test

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

func pid() string { return strconv.Itoa(os.Getpid()) }

// runs reports whether a process runs.
func runs(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	return syscall.Kill(n, 0) == nil
}
