// Command adapters measures, checks and runs the adapters that come with lockbench, and writes the
// results into docs/libraries.md. See adapters.sh.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/adapters"
	"github.com/lockbench/lockbench/bench/commands"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/results"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "adapters: one folder is wanted; hint: bench/adapters.sh DIR, as made by adapters/install DIR")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "adapters:", err)
		os.Exit(1)
	}
}

// librariesVariable has the folder of the libraries in the commands of the page.
const librariesVariable = "LIBRARIES"

// page is the page that has the section.
const page = "docs/libraries.md"

// run writes the section of the page about the libraries in a folder.
func run(ctx context.Context, libraries string) error {
	libraries, err := filepath.Abs(libraries)
	if err != nil {
		return err
	}
	if err := os.Setenv(librariesVariable, libraries); err != nil {
		return err
	}
	b, err := commands.NewBuilder(ctx, portable(libraries))
	if err != nil {
		return err
	}
	defer b.Close()
	all := make([]*lock, 0)
	for _, s := range adapters.AllShipped() {
		_, err := os.Stat(filepath.Join(libraries, s.Language+".installed"))
		all = append(all, &lock{Shipped: s, installed: err == nil})
	}
	// Measurements run alone. Verdicts allow for a busy machine.
	for _, l := range all {
		if err := l.measure(ctx, b); err != nil {
			return err
		}
	}
	const atOnce = 2
	slots := make(chan struct{}, atOnce)
	failed := make([]error, len(all))
	var judging sync.WaitGroup
	for i, l := range all {
		judging.Go(func() {
			slots <- struct{}{}
			failed[i] = l.judge(ctx, b)
			<-slots
		})
	}
	judging.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return commands.WriteSection(page, "adapters", section(all))
}

// A lock is a shipped adapter with the reports about it.
type lock struct {
	adapters.Shipped
	installed bool
	bench     benchReport
	benched   commands.Command
	unbenched []string // what adapter bench said in place of figures
	check     checkReport
	checked   commands.Command
	runs      []judged
}

// A benchReport is the part of the report of adapter bench that the page shows.
type benchReport struct {
	Hello           adapter.Hello `json:"hello"`
	Server          string        `json:"server"`
	StepsGrantsPerS float64       `json:"steps_grants_per_s"`
	BareGrantsPerS  *float64      `json:"bare_grants_per_s"`
	StepUS          *float64      `json:"step_us"`
}

// A checkReport is the part of the report of adapter check that the page shows.
type checkReport struct {
	Hello  adapter.Hello `json:"hello"`
	Probes []probe       `json:"probes"`
}

// A probe is a question of a check, with its outcome.
type probe struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Why     string `json:"why"`
}

// failed returns the questions with wrong answers. If the adapter ended, that is the only one:
// others failed because of it.
func (c *checkReport) failed() (all []probe) {
	for _, p := range c.Probes {
		if p.Outcome == "failed" {
			all = append(all, p)
		}
	}
	if i := slices.IndexFunc(all, func(p probe) bool { return p.Name == "it goes on running" }); i >= 0 {
		all = all[i : i+1]
	}
	return all
}

// A judged is a run with its command.
type judged struct {
	commands.Command
	results.Run
}

// portable returns a replacer of the folder of the libraries by its variable. Languages may have their
// folders elsewhere, behind links, and programs print those paths.
func portable(libraries string) *strings.Replacer {
	pairs := []string{libraries, "$" + librariesVariable}
	for _, s := range adapters.AllShipped() {
		if to, err := filepath.EvalSymlinks(filepath.Join(libraries, s.Language)); err == nil {
			pairs = append(pairs, to, "$"+librariesVariable+"/"+s.Language)
		}
	}
	return strings.NewReplacer(pairs...)
}

// quoted returns the command of the adapter as one word of a shell.
func (l *lock) quoted() string {
	return "'" + l.Shell("adapters", "$"+librariesVariable) + "'"
}

func (l *lock) measure(ctx context.Context, b *commands.Builder) error {
	if !l.installed {
		return nil
	}
	l.benched = commands.Command("lockbench adapter bench -- " + l.quoted())
	text, err := b.Report(ctx, l.benched, "adapter bench", "adapter bench --out json=")
	var failed *commands.FailedError
	if errors.As(err, &failed) { // a lock that breaks when it is asked in a loop
		l.unbenched = failed.Said
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &l.bench)
}

// settings are the flags of a run. The lease is a unit of every lock; few clients and keys leave a
// small machine able to start a process for each.
const settings = " --clients 4 --stallers 4 --keys 2 --ttl 1s --duration 10s --seed 1"

// faults are the faults of the second run.
const faults = " --fault crash --fault pause --fault lost-reply --fault slow"

func (l *lock) judge(ctx context.Context, b *commands.Builder) error {
	if !l.installed {
		return nil
	}
	l.checked = commands.Command("lockbench adapter check -- " + l.quoted())
	text, err := b.Report(ctx, l.checked, "adapter check", "adapter check --out json=")
	if err == nil {
		err = json.Unmarshal(text, &l.check)
	}
	if err != nil {
		return err
	}
	for _, more := range []string{"", faults} {
		c := commands.Command("lockbench run --adapter " + l.quoted() + settings + more)
		r, err := b.Run(ctx, c)
		if err != nil {
			return err
		}
		l.runs = append(l.runs, judged{c, r})
	}
	fmt.Fprintln(os.Stderr, l.Name, "done")
	return nil
}
