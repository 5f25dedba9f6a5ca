package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/daemon"
)

// TestNewHome checks that a stopped process in the folder of a killed process ends, and that those in other
// folders go on.
func TestNewHome(t *testing.T) {
	base := t.TempDir()
	const prefix = "lockbench-daemon-"
	run := func(folder string) *exec.Cmd {
		cmd := exec.Command("/bin/sleep", "60")
		cmd.Dir = folder
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	left, err := tempdir.New(base, prefix)
	if err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(left.Path, "data")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	orphan := run(below)
	if err := left.Abandon(); err != nil {
		t.Fatal(err)
	}
	living, err := tempdir.New(base, prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Remove()
	others := []*exec.Cmd{run(living.Path), run(base)}

	home, err := daemon.NewHome(base, prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer home.Remove()
	if err := orphan.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the process that was left behind: %v, want that it is killed", err)
	}
	for _, other := range others {
		if err := other.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("another process: %v", err)
		}
		_ = other.Process.Kill()
		_ = other.Wait()
	}
	if _, err := os.Stat(left.Path); !os.IsNotExist(err) {
		t.Errorf("the folder that was left behind: %v", err)
	}
}
