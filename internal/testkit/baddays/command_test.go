//go:build linux

package baddays

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience bounds the time of a call that must end by itself.
const patience = 60 * time.Second

// markVariable marks the processes of this campaign, and their children, by their folder for
// temporary files.
const markVariable = "TMPDIR"

// A trial is one call of lockbench.
type trial struct {
	args   []string
	limits string // shell commands before it, such as "ulimit -n 40;"
	temp   string // for temporary files
	at     time.Duration
	during func(*exec.Cmd) // called that long after the start, if it still runs
	closed bool            // nobody reads its output from then on
}

// An outcome is the end of a trial.
type outcome struct {
	exit   int // -1 for a signal
	out    string
	memory int64 // kB
	hung   bool
}

// run runs a trial.
func (b *bench) run(ctx context.Context, t trial) outcome {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.binary, t.args...)
	if t.limits != "" {
		cmd = exec.CommandContext(ctx, "bash", append([]string{"-c", t.limits + ` exec "$0" "$@"`, b.binary}, t.args...)...)
	}
	cmd.Env = append(os.Environ(), markVariable+"="+t.temp)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if t.closed {
		if err := closing(cmd, t.at); err != nil {
			return outcome{exit: -2, out: err.Error()}
		}
	}
	if err := cmd.Start(); err != nil {
		return outcome{exit: -2, out: err.Error()}
	}
	ended := make(chan struct{})
	if t.during != nil {
		go func() {
			select {
			case <-ended:
			case <-time.After(t.at):
				t.during(cmd)
			}
		}()
	}
	_ = cmd.Wait()
	close(ended)
	o := outcome{exit: cmd.ProcessState.ExitCode(), out: out.String(), hung: ctx.Err() != nil}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = usage.Maxrss
	}
	return o
}

// count counts results that no call may have.
func (r *row) count(t trial, o outcome) {
	r.tries++
	r.memory = max(r.memory, o.memory)
	if o.hung {
		r.note(&r.hung, "lockbench %s took longer than %v", strings.Join(t.args, " "), patience)
	}
	if strings.Contains(o.out, "goroutine ") || strings.Contains(o.out, "panic:") || o.exit < -1 {
		r.note(&r.broken, "lockbench %s: %.2000s", strings.Join(t.args, " "), o.out)
	}
}

// marked returns the processes that use temp for their temporary files.
func marked(temp string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(append([]byte{0}, text...), []byte("\x00"+markVariable+"="+temp+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits until no process uses temp, and reports whether that happened.
func gone(temp string) bool {
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		if len(marked(temp)) == 0 {
			return true
		}
	}
	return false
}

// leftIn returns the folders that the next start should have removed: those not kept on purpose.
func leftIn(temp string) (left []string) {
	for _, pattern := range []string{"lockbench*", ".lockbench*"} {
		found, _ := filepath.Glob(filepath.Join(temp, pattern))
		for _, dir := range found {
			if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil || strings.HasPrefix(filepath.Base(dir), ".") {
				left = append(left, dir)
			}
		}
	}
	return left
}
