package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/servertest"
	"github.com/lockbench/lockbench/workloads"
)

// TestRunFollowsSentinel: a run goes on at the server that takes over when the primary is killed. That is told, and
// breaks nothing that a design claims; nothing is left at the new primary.
func TestRunFollowsSentinel(t *testing.T) {
	w := servertest.StartWatched(t)
	found, err := impls.Match("lua-token/strategy")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Workload: workloads.Must("mutex"), Options: workloads.Defaults(), Subjects: []Subject{{Design: found[0]}}, Servers: []string{w.URL()}, History: t.TempDir()}
	p.Options.Keys, p.Options.Duration = 4, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var r Result
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		r, err = Run(ctx, p)
	}()
	awaitLocks(t, w.Primary)
	w.Primary.Kill()
	servertest.Await(t, func(ctx context.Context) (string, error) {
		role, err := w.Replica.Client(t).Do(ctx, "ROLE").Slice()
		if err != nil || role[0] != "master" {
			return "a new primary", err
		}
		return "", nil
	})
	w.Replica.Do(t, "CONFIG", "RESETSTAT")
	awaitLocks(t, w.Replica)
	stop()
	<-ran
	if err != nil {
		t.Fatal(err)
	}
	j := r.Runs[0]
	if told := strings.Join(j.Notes, "\n"); !strings.Contains(told, "another server took over that had been its replica") || !strings.Contains(told, "master_name="+servertest.Master) {
		t.Errorf("notes %q, want one of the failover", j.Notes)
	}
	for _, f := range j.Verdicts.Findings {
		if f.Verdict == checker.Broken && f.Claimed {
			t.Errorf("%s is broken: %s", f.Cell, f.Counterexample.Sentence)
		}
	}
	if keys := w.Replica.Do(t, "KEYS", "lockbench:*").([]any); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}

// awaitLocks waits until scripts have released locks at n.
func awaitLocks(t *testing.T, n *servertest.Node) {
	client := n.Client(t)
	servertest.Await(t, func(ctx context.Context) (string, error) {
		stats, err := client.Info(ctx, "commandstats").Result()
		if !strings.Contains(stats, "cmdstat_evalsha:") {
			return "a release by script", err
		}
		return "", err
	})
}
