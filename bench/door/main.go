// Command door tests locks in real time with locktest, many at a time: sound locks and mutants, in
// memory and on a private redis-server, with leases of 50 ms to 1 s. It counts the accused locks.
// bench/door.sh calls it, beside busy loops.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/locktest"
)

func main() {
	servers.SilenceClients()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := door(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "door:", err)
		os.Exit(1)
	}
}

// settings are the command line's settings.
type settings struct {
	runs, beside int
	keep         string
	most         time.Duration
}

func door(ctx context.Context, w io.Writer, args []string) error {
	var s settings
	flags := flag.NewFlagSet("door", flag.ContinueOnError)
	flags.IntVar(&s.runs, "runs", 60, "how many runs of sound locks; a tenth as many of mutants are added")
	flags.IntVar(&s.beside, "beside", 8, "how many at a time")
	flags.StringVar(&s.keep, "keep", "door-accused", "a folder for the histories of sound locks that were accused")
	flags.DurationVar(&s.most, "most", time.Hour, "no run begins later than this; the table says how many there were")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.runs < 1 || s.beside < 1 {
		return fmt.Errorf("-runs %d -beside %d: nothing to run; hint: one at least of both", s.runs, s.beside)
	}
	server, err := servers.StartPrivate(ctx)
	if err != nil {
		return fmt.Errorf("start a server: %w", err)
	}
	trials := s.trials()
	s.runAll(ctx, server, trials)
	return errors.Join(report(w, trials), server.Close())
}

// kind is the declared kind of a lock.
type kind int

// The kinds.
const (
	plain kind = iota
	renewing
	session
)

func (k kind) options() []locktest.RunOption {
	switch k {
	case renewing:
		return []locktest.RunOption{locktest.WithRenewal()}
	case session:
		return []locktest.RunOption{locktest.WithSession()}
	}
	return nil
}

// A lock is a tested lock, sound if it has no fault.
type lock struct {
	name   string
	kind   kind
	fault  fault
	design string // of the catalogue, including its claims; empty for a lock in memory
	claims string // terms; empty claims the guarantees of a lease
}

var sound = []lock{
	{name: "in memory, a lease", kind: plain},
	{name: "in memory, renewed", kind: renewing},
	{name: "in memory, a session", kind: session},
	{name: "redislock", kind: plain, design: "redislock/obtain"},
	{name: "redsync", kind: plain, design: "redsync/single"},
	{name: "rueidislock", kind: renewing, design: "rueidislock/polling", claims: "-no-spurious-refusal -loss-reported"},
}

var mutants = []lock{
	{name: "a release frees whoever holds the key", kind: plain, fault: freesAnybody},
	{name: "every eighth refusal is a grant", kind: plain, fault: letsIn},
	{name: "leases are half as long", kind: plain, fault: halvesLeases},
	{name: "leases last for an hour", kind: plain, fault: neverFrees},
	{name: "declared to renew, and never does", kind: renewing, fault: neverRenews},
	{name: "Close leaves what its session holds", kind: session, fault: leavesSession},
	{name: "reports losses that it causes itself", kind: renewing, fault: inventsLosses},
}

var leases = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second}

// A trial is one run with its outcome.
type trial struct {
	lock
	ttl time.Duration
	// done means that it was run. why is the reason why it was accused, or could not be run.
	done              bool
	accused, untested bool
	why               error
}

// trials returns all runs: one of a mutant after every ten of sound locks.
func (s *settings) trials() (all []*trial) {
	for n := range s.runs {
		all = append(all, &trial{lock: sound[n%len(sound)], ttl: leases[n/len(sound)%len(leases)]})
		if n%10 == 9 {
			m := n / 10
			all = append(all, &trial{lock: mutants[m%len(mutants)], ttl: leases[m/len(mutants)%len(leases)]})
		}
	}
	return all
}

// runAll runs all, several at a time.
func (s *settings) runAll(ctx context.Context, server *servers.Server, trials []*trial) {
	ctx, stop := context.WithTimeout(ctx, s.most)
	defer stop()
	var next, pid atomic.Int64
	var all sync.WaitGroup
	for range s.beside {
		all.Go(func() {
			for n := next.Add(1); int(n) <= len(trials) && ctx.Err() == nil; n = next.Add(1) {
				s.run(ctx, server, trials[n-1], &pid, int(n))
			}
		})
	}
	all.Wait()
}

// run runs one trial, and keeps its histories if a sound lock was accused.
func (s *settings) run(ctx context.Context, server *servers.Server, t *trial, pid *atomic.Int64, number int) {
	dir, err := os.MkdirTemp("", "door-")
	if err != nil {
		t.done, t.why = true, err
		return
	}
	defer os.RemoveAll(dir)
	owners, err := t.owners(server, pid)
	if err != nil {
		t.done, t.why = true, err
		return
	}
	options := append(t.kind.options(), locktest.WithClaims(strings.Fields(t.claims)...), locktest.WithTTL(t.ttl), locktest.WithShort(), locktest.WithHistories(dir))
	found, err := locktest.Try(ctx, owners, options...)
	if ctx.Err() != nil {
		return // interrupted
	}
	t.done = true
	t.take(found, err)
	if t.accused && t.fault == none {
		kept := filepath.Join(s.keep, fmt.Sprint(number))
		t.why = errors.Join(t.why, os.CopyFS(kept, os.DirFS(dir)))
		fmt.Fprintf(os.Stderr, "door: run %d, %s with leases of %v, was accused (histories in %s): %v\n", number, t.name, t.ttl, kept, t.why)
	}
}

// take records the findings of a trial. An error of Try, unless the lock could not be tested, is an
// accusation, too: the lock does not behave as declared.
func (t *trial) take(found locktest.Result, err error) {
	t.judge(err, 0)
	for _, defect := range found.Defects {
		t.judge(errors.New(defect), 0)
	}
	for _, cell := range found.Cells.Sorted() {
		t.judge(found.Tests[cell].Err, found.Cells[cell].Against)
	}
}

// judge records an error, and the number of violated claims.
func (t *trial) judge(err error, against int64) {
	switch {
	case err == nil:
	case against == 0 && errors.Is(err, locktest.ErrUntested):
		t.untested = true
	default:
		t.accused, t.why = true, errors.Join(t.why, err)
	}
}

// owners returns a function that makes owners of the lock, each in a process of its own.
func (t *trial) owners(server *servers.Server, pid *atomic.Int64) (func() (lockbench.Locker, error), error) {
	if t.design == "" {
		s := &service{kind: t.kind, fault: t.fault, held: map[string]*grant{}}
		return func() (lockbench.Locker, error) { return s.owner(), nil }, nil
	}
	d, err := impls.Match(t.design)
	if err != nil {
		return nil, err
	}
	prefix := servers.NewPrefix()
	return func() (lockbench.Locker, error) {
		p, err := d[0].Open(design.Environment{
			Services: []any{server.Reach()}, Host: "door", PID: int(pid.Add(1)), Now: time.Now, Random: rand.Reader, Pool: 2, Prefix: prefix,
		})
		if err != nil {
			return nil, err
		}
		return process{p.Locker(design.Blind), p}, nil
	}, nil
}

// A process is a locker that closes its process.
type process struct {
	lockbench.Locker
	io.Closer
}
