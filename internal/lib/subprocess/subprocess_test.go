//go:build unix

package subprocess_test

import (
	"bufio"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/lib/subprocess"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSignals stops a program that counts as fast as it can: it has stopped when Suspend returns, it goes
// on after Resume, and a kill ends it.
func TestSignals(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while :; do i=$((i+1)); echo $i; done")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var words subprocess.Excerpt
	cmd.Stderr = &words
	gone := make(chan error, 1)
	lines := make(chan string)
	if err := subprocess.Start(cmd, func(err error) { gone <- err }); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	<-lines
	if err := subprocess.Suspend(cmd.Process); err != nil {
		t.Fatal(err)
	}
	state := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(cmd.Process.Pid))
	if text, err := state.Output(); runtime.GOOS == "linux" && err == nil && !strings.HasPrefix(string(text), "T") {
		t.Errorf("its state is %q, want stopped", text)
	}
	if err := subprocess.Resume(cmd.Process); err != nil {
		t.Fatal(err)
	}
	for range 100_000 { // more than a pipe holds
		<-lines
	}
	if err := subprocess.Kill(cmd.Process); err != nil {
		t.Fatal(err)
	}
	for range lines {
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("it did not end")
	}
	if err := subprocess.Suspend(cmd.Process); err == nil {
		t.Error("a program that has ended was stopped")
	}
}
