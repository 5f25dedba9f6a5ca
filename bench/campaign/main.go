//go:build unix

// Command campaign runs locks while lockbench, their server or both stand still now and then
// (SIGSTOP), sound ones and mutants, and counts the accused ones. bench/campaign.sh calls it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/servers"
)

func main() {
	servers.SilenceClients()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := campaign(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(2)
	}
}

// settings are the command line's settings. child is for the command's own calls of itself.
type settings struct {
	runs, beside int
	seed         uint64
	duration     time.Duration
	child        string
	lease        time.Duration
	urls         string
}

func campaign(ctx context.Context, args []string) error {
	var s settings
	flags := flag.NewFlagSet("campaign", flag.ContinueOnError)
	flags.IntVar(&s.runs, "runs", 60, "how many runs; one in three is of a mutant")
	flags.IntVar(&s.beside, "beside", 2, "how many at a time")
	flags.Uint64Var(&s.seed, "seed", 1, "decides who stands still in which run, and for how long")
	flags.DurationVar(&s.duration, "duration", 5*time.Second, "how long each run lasts")
	flags.StringVar(&s.child, "child", "", "the lock to run, for the command's own use")
	flags.DurationVar(&s.lease, "lease", time.Second, "its lease, likewise")
	flags.StringVar(&s.urls, "urls", "", "its servers, likewise")
	switch err := flags.Parse(args); {
	case err != nil:
		return err
	case s.child != "":
		return s.runChild(ctx)
	case s.runs < 1 || s.beside < 1:
		return fmt.Errorf("-runs %d -beside %d: nothing to run; hint: one at least of both", s.runs, s.beside)
	}
	return s.runAll(ctx)
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

// trials returns all runs, in the order of their numbers.
func (s *settings) trials() (all []trial) {
	good, bad := sound(), overlapping()
	leases := []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}
	for n := range s.runs {
		r := rand.New(rand.NewPCG(s.seed, uint64(n)))
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

// runAll runs all, several at a time, prints the table, and returns an error for results that must
// not occur.
func (s *settings) runAll(ctx context.Context) error {
	trials := s.trials()
	outcomes := make([]outcome, len(trials))
	next := make(chan int)
	var all sync.WaitGroup
	for range s.beside {
		all.Go(func() {
			for n := range next {
				outcomes[n] = s.runOne(ctx, &trials[n])
				say(n, &trials[n], &outcomes[n])
			}
		})
	}
	for n := range trials {
		if ctx.Err() != nil {
			break
		}
		next <- n
	}
	close(next)
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	counts := tableOf(trials, outcomes)
	counts.print(os.Stdout)
	return counts.verdict()
}

func say(n int, t *trial, o *outcome) {
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
	fmt.Fprintf(os.Stderr, "%d %s lease %v, %s stood still, %v in all: %d grants, %d overlaps, against it: %s\n",
		n, t.design.Name, t.lease, t.who, o.Standstill.Round(time.Millisecond), o.Grants, o.Overlaps, what)
}

// runOne runs a child on servers of its own, with standstills.
func (s *settings) runOne(ctx context.Context, t *trial) (o outcome) {
	failed := func(err error) outcome { return outcome{Error: err.Error()} }
	started, urls, err := start(ctx, t.design.ServerCount())
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
	child := exec.CommandContext(ctx, program, "-child", t.design.Name, "-lease", t.lease.String(), "-duration", s.duration.String(), "-urls", strings.Join(urls, ","))
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
func start(ctx context.Context, n int) (all []*servers.Server, urls []string, err error) {
	for range n {
		one, err := servers.StartPrivate(ctx)
		if err != nil {
			return all, nil, err
		}
		all = append(all, one)
		urls = append(urls, one.Address())
	}
	return all, urls, nil
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
