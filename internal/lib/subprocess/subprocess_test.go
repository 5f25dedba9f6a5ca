//go:build unix

package subprocess_test

import (
	"bufio"
	"errors"
	"os"
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
	p, err := subprocess.Start(cmd, func(err error) { gone <- err })
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	<-lines
	if err := p.Suspend(); err != nil {
		t.Fatal(err)
	}
	state := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(p.PID()))
	if text, err := state.Output(); runtime.GOOS == "linux" && err == nil && !strings.HasPrefix(string(text), "T") {
		t.Errorf("its state is %q, want stopped", text)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	for range 100_000 { // more than a pipe holds
		<-lines
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines {
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("it did not end")
	}
	for name, signal := range map[string]func() error{"suspend": p.Suspend, "resume": p.Resume, "kill": p.Kill} {
		if err := signal(); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%s of a program that has ended: %v", name, err)
		}
	}
}

// TestRest: what a program leaves behind ends with it, so that nobody has its output any more.
func TestRest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the rest goes on elsewhere")
	}
	cmd := exec.Command("sh", "-c", "sleep 1000 &")
	cmd.WaitDelay = time.Minute // after which Wait fails, because sleep has the output, too
	var said subprocess.Excerpt
	cmd.Stdout = &said
	gone := make(chan error, 1)
	if _, err := subprocess.Start(cmd, func(err error) { gone <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
}
