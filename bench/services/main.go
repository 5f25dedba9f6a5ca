// Command services runs a sound and a broken lock of each service, and writes what they cost and break
// into docs/choosing.md. See services.sh.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/bench/commands"
	"github.com/lockbench/lockbench/results"
)

func main() {
	faults := flag.Duration("faults", time.Minute, "length of the run with faults of each sound lock")
	rounds := flag.Int("rounds", 3, "number of runs without faults of each lock")
	beside := flag.Int("beside", 1, "number of runs with faults of sound locks at once")
	page := flag.String("page", "docs/choosing.md", "the page, or no")
	flag.Parse()
	if flag.NArg() != 1 || *rounds < 1 || *beside < 1 {
		fmt.Fprintln(os.Stderr, "services: one folder and positive numbers are wanted; hint: bench/services.sh DIR, as made by adapters/install DIR")
		os.Exit(2)
	}
	all := locks(flag.Arg(0))
	err := run(context.Background(), all, *faults, *rounds, *beside)
	if err == nil && *page != "no" {
		err = commands.WriteSection(*page, "services", section(all, *faults, *beside))
	} else if err == nil {
		fmt.Println(section(all, *faults, *beside))
	}
	if err == nil {
		err = verdict(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

// Settings of the runs. The owners of together share one process, and each has a key of its own, so that
// it shows the connections that held locks take.
const (
	contended = " --clients 16 --stallers 0 --keys 4 --duration 5s"
	together  = " --clients 16 --processes 1 --stallers 0 --keys 16 --key-choice own --hold 50ms --duration 2s"
	disturbed = " --clients 8 --keys 4 --ttl 1s --seed 1 --duration "
	// brief is long enough for a broken lock.
	brief = 20 * time.Second
)

// run measures all locks in turns, and then judges each under faults: the broken ones one by one, and so many
// of the sound ones beside each other.
func run(ctx context.Context, all []*lock, faults time.Duration, rounds, beside int) error {
	b, err := commands.NewBuilder(ctx, nil)
	if err != nil {
		return err
	}
	defer b.Close()
	for round := range rounds {
		for _, l := range all {
			r, err := b.Run(ctx, l.command(contended))
			if err != nil {
				return err
			}
			l.speed = append(l.speed, r)
			if round > 0 || l.apart {
				continue
			}
			if l.together, err = b.Run(ctx, l.command(together)); err != nil {
				return err
			}
		}
	}
	for _, l := range all {
		if l.sound {
			continue
		}
		if err := l.judge(ctx, b, min(brief, faults)); err != nil {
			return err
		}
	}
	var at errgroup.Group
	at.SetLimit(beside)
	for _, l := range all {
		if l.sound {
			at.Go(func() error { return l.judge(ctx, b, faults) })
		}
	}
	return at.Wait()
}

// judge runs the lock under faults. It keeps the history of a sound one that is accused, or whose run fails.
func (l *lock) judge(ctx context.Context, b *commands.Builder, length time.Duration) (err error) {
	l.judged = l.command(disturbed + length.String() + l.faults)
	history, err := os.MkdirTemp("", "services-")
	if err != nil {
		return err
	}
	if l.under, err = b.Run(ctx, l.judged+commands.Command(" --history "+history)); err != nil {
		return fmt.Errorf("%w\nits history is in %s", err, history)
	}
	said := append([]string{"done"}, l.accusations()...)
	if l.sound && len(said) > 1 {
		said = append(said, "its history is in "+history)
	} else {
		err = os.RemoveAll(history)
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", l.name, strings.Join(said, "; "))
	return err
}

// verdict returns an error if a sound lock was accused or met no occasion, or a broken one was not caught.
func verdict(all []*lock) (err error) {
	for _, l := range all {
		switch found := len(l.broken()) > 0; {
		case l.sound && len(l.accusations()) > 0:
			err = errors.Join(err, fmt.Errorf("%s is sound, and was accused: %s; see %s", l.name, strings.Join(l.accusations(), "; "), l.judged))
		case l.sound && l.occasions() == 0:
			err = errors.Join(err, fmt.Errorf("%s was not tried: no two owners met; see %s", l.name, l.judged))
		case !l.sound && !found:
			err = errors.Join(err, fmt.Errorf("%s is broken, and was not caught by %s", l.name, l.judged))
		}
	}
	return err
}

// occasions returns the number of occasions on which a run with faults could have seen two owners at once.
func (l *lock) occasions() (n int64) {
	for c, f := range l.under.Cells.Cells {
		if c.Guarantee == lockbench.Exclusion {
			n += f.Exposure
		}
	}
	return n
}

// accusations are the claims that the runs of a lock broke, and their errors.
func (l *lock) accusations() (all []string) {
	for _, r := range slices.Concat(l.speed, []results.Run{l.together, l.under}) {
		for c, f := range r.Cells.Cells {
			if f.Against > 0 {
				all = append(all, fmt.Sprintf("%s: %d of %d", c, f.Violations, f.Exposure))
			}
		}
		if r.Error != "" {
			all = append(all, r.Error)
		}
	}
	return all
}

// A lock is a lock of a service, with its runs.
type lock struct {
	service, name string
	selects       string // the flag that selects it
	sound         bool
	apart         bool   // its owners cannot all share a process
	faults        string // the flags of the faults of its service
	speed         []results.Run
	together      results.Run
	under         results.Run
	judged        commands.Command
}

func (l *lock) command(settings string) commands.Command {
	return commands.Command("lockbench run " + l.selects + settings)
}
