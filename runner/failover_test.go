package runner

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

func TestRunFollowsSentinel(t *testing.T) {
	w := servertest.StartWatched(t)
	runFollows(t, w.URL(), w.Primary, w.Replica)
}

func TestRunFollowsCluster(t *testing.T) {
	c := servertest.StartCluster(t, 1)
	runFollows(t, c.URL(), c.Nodes[0], c.Replicas[0], c.Nodes[1:]...)
}

// runFollows kills the primary during a run, and checks that the run continues at the server that
// takes over, reports the failover, breaks no claim of the design, and leaves nothing behind.
func runFollows(t *testing.T, url string, primary, replica *servertest.Node, others ...*servertest.Node) {
	found, err := impls.Match("lua-token/strategy")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Workload: workloads.Must("mutex"), Options: workloads.Defaults(), Subjects: []Subject{{Design: found[0]}}, Servers: []string{url}, History: t.TempDir()}
	p.Options.Keys, p.Options.Duration = 8, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var r Result
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		r, err = Run(ctx, p)
	}()
	awaitLocks(t, primary)
	primary.Kill()
	client := replica.Client(t)
	servertest.Await(t, func(ctx context.Context) (string, error) {
		role, err := client.Do(ctx, "ROLE").Slice()
		if err != nil || role[0] != "master" {
			return "a new primary", err
		}
		return "", nil
	})
	replica.Do(t, "CONFIG", "RESETSTAT")
	awaitLocks(t, replica)
	stop()
	<-ran
	if err != nil {
		t.Fatal(err)
	}
	j := r.Runs[0]
	if told := strings.Join(j.Notes, "\n"); !strings.Contains(told, "another server took over that had been its replica") {
		t.Errorf("notes %q, want one of the failover", j.Notes)
	}
	for _, f := range j.Verdicts.Findings {
		if f.Verdict == checker.Broken && f.Claimed {
			t.Errorf("%s is broken: %s", f.Cell, f.Counterexample.Sentence)
		}
	}
	for _, n := range append(others, replica) {
		if keys := n.Do(t, "KEYS", "lockbench:*").([]any); len(keys) > 0 {
			t.Errorf("left behind at %s: %q", n.Addr, keys)
		}
	}
}

// awaitLocks waits until scripts have released locks at n.
func awaitLocks(t *testing.T, n *servertest.Node) {
	client := n.Client(t)
	servertest.Await(t, func(ctx context.Context) (string, error) {
		stats, err := client.Info(ctx, "commandstats").Result()
		var calls int
		_, ofScripts, _ := strings.Cut(stats, "cmdstat_evalsha:calls=")
		if _, _ = fmt.Sscanf(ofScripts, "%d", &calls); calls < 100 { // the check of permissions makes some
			return "releases by script", err
		}
		return "", err
	})
}

// TestRunOnCluster checks that designs run on a cluster, that unsuitable ones are left out, and
// that nothing is left behind.
func TestRunOnCluster(t *testing.T) {
	c := servertest.StartCluster(t, 0)
	var said strings.Builder
	p := refusedPlan(t, c.URL(), "lua-token/*", "hash-reentrant/*", "setnx-getset/*", "watch-multi/*", "redislock/*", "redsync/single", "rueidislock/*")
	r, err := Run(t.Context(), p, Sink{Say: func(text string) { said.WriteString(text) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := "left out: design watch-multi/give-up, watch-multi/poll: server " + c.URL() + " is a Redis Cluster"; !strings.Contains(said.String(), want) {
		t.Errorf("said %q, want %q", said.String(), want)
	}
	if want := len(p.Subjects) - 2; len(r.Runs) != want {
		t.Errorf("%d runs, want %d", len(r.Runs), want)
	}
	for _, j := range r.Runs {
		granted := false
		for _, f := range j.Verdicts.Findings {
			granted = granted || f.Exposure > 0
			if f.Verdict == checker.Broken && f.Claimed {
				t.Errorf("%s: %s is broken: %s", j.Header.Design, f.Cell, f.Counterexample.Sentence)
			}
		}
		if !granted {
			t.Errorf("%s was granted nothing", j.Header.Design)
		}
	}
	for _, n := range c.Nodes {
		if keys := n.Do(t, "KEYS", "lockbench:*").([]any); len(keys) > 0 {
			t.Errorf("left behind at %s: %q", n.Addr, keys)
		}
	}
	p.Subjects = p.Subjects[:1]
	p.Subjects[0].Optional = false
	for i := range p.Subjects {
		p.Subjects[i].Design.Commands = []string{"WATCH"}
	}
	if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "runs no WATCH") {
		t.Errorf("error %v, want that there is no WATCH", err)
	}
}
