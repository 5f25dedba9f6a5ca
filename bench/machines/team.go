//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/results"
)

// machines is the number of agents of a run.
const machines = 2

// enough bounds the time of a run from its start to its end.
const enough = time.Minute

// A team is a run of a coordinator and its agents.
type team struct {
	dir         string
	length      time.Duration
	coordinator *process
	agents      []*process
}

// settings are the flags of all runs.
func (b *bench) settings(dir string, length time.Duration, hold string) []string {
	on := []string{"run"}
	if !b.private {
		on = append(on, "--server", b.server)
	}
	if b.restarted {
		on = append(on, "--fault", "restart,every=700ms")
	}
	return append(on,
		"--quiet", "--design", "lua-token/token", "--workload", "mutex",
		"--key-choice", "own", "--clients", "32", "--groups", strconv.Itoa(machines), "--stallers", "0",
		"--hold", hold, "--think", "0s", "--wait", "0s", "--explore", "0s", "--duration", length.String(),
		"--history", filepath.Join(dir, "run"), "--out", "json="+filepath.Join(dir, "report.json"),
	)
}

// folder makes the folder of the next run.
func (b *bench) folder() (string, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("%03d", b.runs.Add(1)))
	return dir, os.Mkdir(dir, 0o755)
}

// lockbench returns a command of lockbench, whose temporary files are in dir.
func (b *bench) lockbench(dir string, args ...string) *exec.Cmd {
	c := exec.Command(b.program, args...)
	c.Env = append(os.Environ(), "TMPDIR="+dir)
	return c
}

// start starts a run. An empty urls makes the coordinator start its own NATS server. End the team.
func (b *bench) start(length time.Duration, hold, urls string) (t *team, err error) {
	t = &team{length: length}
	if t.dir, err = b.folder(); err != nil {
		return nil, err
	}
	at := []string{"--nats", urls}
	if urls == "" {
		address, err := servers.FreePort()
		if err != nil {
			return nil, err
		}
		at, urls = []string{"--listen", address}, "nats://"+address
	}
	token := strconv.FormatUint(rand.Uint64(), 36)
	at = append(at, "--agents", strconv.Itoa(machines), "--token", token)
	args := append(b.settings(t.dir, length, hold), at...)
	if t.coordinator, err = startProcess(b.lockbench(t.dir, args...)); err != nil {
		return nil, err
	}
	for i := range machines {
		command := b.lockbench(t.dir, "agent", urls, "--token", token, "--history", t.agentFolder(i))
		agent, err := startProcess(command)
		if err != nil {
			return t, errors.Join(err, t.end())
		}
		t.agents = append(t.agents, agent)
	}
	return t, nil
}

func (t *team) agentFolder(i int) string { return filepath.Join(t.dir, fmt.Sprintf("agent%d", i)) }

// processes are those of the team that this program started.
func (t *team) processes() []*process { return append([]*process{t.coordinator}, t.agents...) }

// end kills the processes that still run, and writes their output into the folder of the run.
func (t *team) end() (err error) {
	for i, p := range t.processes() {
		_ = p.Kill() // it may have ended
		<-p.done
		name := "coordinator.txt"
		if i > 0 {
			name = fmt.Sprintf("agent%d.txt", i-1)
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(t.dir, name), []byte(p.said.Head()), 0o644))
	}
	return err
}

// begun waits until the clients of all agents have begun.
func (t *team) begun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	var early *process
	began := poll(ctx, func() bool {
		for _, p := range t.processes() {
			select {
			case <-p.done:
				early = p
				return true
			default:
			}
		}
		parts, err := t.copies()
		empty := func(part string) bool { return size(part) == 0 }
		return err == nil && len(parts) == machines && !slices.ContainsFunc(parts, empty)
	})
	switch {
	case early != nil:
		return fmt.Errorf("it ended before its clients began:\n%s", early.said.Tail())
	case !began:
		return fmt.Errorf("its clients did not begin:\n%s", t.coordinator.said.Tail())
	}
	return nil
}

// moment waits until a random moment of the run, and returns how long after the start of its clients that is.
func (t *team) moment(ctx context.Context) (time.Duration, error) {
	if err := t.begun(ctx); err != nil {
		return 0, err
	}
	after := rand.N(t.length * 9 / 10) // the last tenth may be over
	select {
	case <-time.After(after):
	case <-ctx.Done():
	}
	return after, ctx.Err()
}

// copies returns the paths of the coordinator's histories.
func (t *team) copies() ([]string, error) {
	return filepath.Glob(filepath.Join(t.dir, "run", "*.part-*.lbh"))
}

// own returns the path of an agent's history of which the coordinator made a copy, and the agent's place in
// t.agents.
func (t *team) own(copied string) (path string, agent int, err error) {
	_, part, _ := strings.Cut(filepath.Base(copied), ".part-")
	for i := range machines {
		found, err := filepath.Glob(filepath.Join(t.agentFolder(i), "*.part-"+part))
		if err != nil || len(found) > 0 {
			return strings.Join(found, " "), i, err
		}
	}
	return "", 0, fmt.Errorf("no agent has part %s", part)
}

// report returns the run that the coordinator, or a single process, reported.
func report(dir string) (results.Run, error) {
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return results.Run{}, err
	}
	r, err := results.ReadAs[*results.Result](bytes.NewReader(text))
	if err != nil {
		return results.Run{}, err
	}
	if len(r.Runs) != 1 {
		return results.Run{}, fmt.Errorf("%d runs in the report, want 1", len(r.Runs))
	}
	return r.Runs[0], nil
}

// size returns the number of bytes of a file, zero if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// isVerdict reports whether an exit code of check, merge or run tells of a record that could be judged.
func isVerdict(code int) bool {
	return code == 0 || code == results.BrokenClaim || code == results.Inconclusive
}
