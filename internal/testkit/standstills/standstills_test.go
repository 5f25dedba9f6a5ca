//go:build unix

package standstills

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// TestMain makes this program a child that runs one lock, if its environment says so.
func TestMain(m *testing.M) {
	servers.SilenceClients()
	if text := os.Getenv(childVariable); text != "" {
		os.Exit(child(text))
	}
	os.Exit(m.Run())
}

// duration is how long each run lasts.
const duration = 5 * time.Second

// TestStandstills fails if a sound lock is accused, if fewer than 95 % of the mutants are caught by
// which two were inside, or if nothing was measured. A run that a slow machine does not finish fails
// nothing. It logs the counts.
func TestStandstills(t *testing.T) {
	longtest.Campaign(t)
	all := trials(longtest.Size(t, "RUNS", 24), uint64(longtest.Size(t, "SEED", 1)))
	outcomes := make([]outcome, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range longtest.Size(t, "BESIDE", 2) {
		group.Go(func() {
			for n := range next {
				outcomes[n] = all[n].run(t.Context())
				t.Log(describe(n, &all[n], &outcomes[n]))
			}
		})
	}
	for n := range all {
		next <- n
	}
	close(next)
	group.Wait()
	counts := tableOf(all, outcomes)
	t.Logf("\n%s", counts)
	if err := counts.verdict(); err != nil {
		t.Error(err)
	}
}

// A trial is one run: of a lock, with a lease, with standstills of who.
type trial struct {
	design design.Design
	mutant bool
	lease  time.Duration
	who    string
	rand   *rand.Rand
}

// outcome is a child's report of its run.
type outcome struct {
	Against    []string
	Overlaps   int64
	Grants     int64
	Standstill time.Duration
	Error      string   // the run is not judged, or not in full
	Defects    []string // contradictions that are lockbench's own
	// History is the file of the run, kept if the run has a violation.
	History string
}

// Values of trial.who.
const (
	driver = "lockbench"
	server = "server"
	both   = "both"
)

// overlapping returns mutants that let two owners inside at once in a live run on one server.
func overlapping() (found []design.Design) {
	for _, m := range mutants.Mutants() {
		if slices.ContainsFunc(m.Breaks, breaksAlone) {
			found = append(found, m.Design())
		}
	}
	return found
}

// sound returns the designs on Redis servers that claim something, and the sound relatives of
// mutants.
func sound() (found []design.Design) {
	for _, d := range append(impls.All(), mutants.Sound()...) {
		if len(d.Claims.Keeps) > 0 && d.Control == "" && servers.BackendOf(&d).Name() == (servers.Redis{}).Name() {
			found = append(found, d)
		}
	}
	return found
}

// trials returns runs, in the order of their numbers.
func trials(runs int, seed uint64) (all []trial) {
	good, bad := sound(), overlapping()
	leases := []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}
	for n := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		t := trial{rand: r, who: []string{driver, server, both}[r.IntN(3)], lease: leases[r.IntN(len(leases))]}
		if t.mutant = n%3 == 2; t.mutant {
			t.design = bad[n/3%len(bad)]
		} else {
			t.design = good[(n-n/3)%len(good)]
		}
		t.lease = max(t.lease, shortest(&t.design))
		all = append(all, t)
	}
	return all
}

// shortest is the shortest of these leases that a design gives.
func shortest(d *design.Design) time.Duration {
	for _, lease := range []time.Duration{50 * time.Millisecond, time.Second} {
		if d.CanLease(lease) == nil {
			return lease
		}
	}
	return 2 * time.Second
}

func describe(n int, t *trial, o *outcome) string {
	what := strings.Join(o.Against, ", ")
	if o.Error != "" {
		what += " error: " + o.Error
	}
	if len(o.Defects) > 0 {
		what += " defects of lockbench: " + strings.Join(o.Defects, "; ")
	}
	if o.History != "" {
		what += " (" + o.History + ")"
	}
	return fmt.Sprintf("%d %s lease %v, %s stood still, %v in all: %d grants, %d overlaps, against it: %s",
		n, t.design.Name, t.lease, t.who, o.Standstill.Round(time.Millisecond), o.Grants, o.Overlaps, what)
}

// run runs a child on servers of its own, with standstills.
func (t *trial) run(ctx context.Context) (o outcome) {
	failed := func(err error) outcome { return outcome{Error: err.Error()} }
	started, addresses, err := start(ctx, t.design.ServerCount())
	defer func() {
		for _, one := range started {
			_ = one.Close()
		}
	}()
	if err != nil {
		return failed(err)
	}
	program, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	text, err := json.Marshal(task{Lock: t.design.Name, Lease: t.lease, Servers: addresses})
	if err != nil {
		return failed(err)
	}
	child := exec.CommandContext(ctx, program)
	child.Env = append(os.Environ(), childVariable+"="+string(text))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		return failed(err)
	}
	if err := child.Start(); err != nil {
		return failed(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // it begins
	over := make(chan struct{})
	var stalling sync.WaitGroup
	stalling.Go(func() { t.stall(child.Process, started, over) })
	lines.Scan()
	close(over)
	stalling.Wait()
	if err := errors.Join(json.Unmarshal(lines.Bytes(), &o), child.Wait()); err != nil {
		return failed(fmt.Errorf("%s: %w", t.design.Name, err))
	}
	return o
}

// start starts private servers.
func start(ctx context.Context, n int) (all []*servers.Server, addresses []string, err error) {
	for range n {
		one, err := servers.StartPrivate(ctx)
		if err != nil {
			return all, nil, err
		}
		all = append(all, one)
		addresses = append(addresses, one.Address())
	}
	return all, addresses, nil
}

// stall stops the child, its servers or both for 0.3 to 3 s, now and then, until over.
func (t *trial) stall(child *os.Process, all []*servers.Server, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(500*time.Millisecond + time.Duration(t.rand.Int64N(int64(time.Second)))):
		}
		if t.who != server {
			_ = child.Signal(syscall.SIGSTOP)
		}
		for _, one := range all {
			if t.who != driver {
				_ = one.Suspend()
			}
		}
		time.Sleep(300*time.Millisecond + time.Duration(t.rand.Int64N(int64(2700*time.Millisecond))))
		for _, one := range all {
			if t.who != driver {
				_ = one.Resume()
			}
		}
		_ = child.Signal(syscall.SIGCONT)
	}
}
