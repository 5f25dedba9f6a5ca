package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/servers"
	"github.com/lockbench/lockbench/locktest"
)

// ttl is the requested lease: long enough for a busy machine.
const ttl = time.Second

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tried:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, args []string) (err error) {
	if len(args) < 2 {
		return errors.New("no lock named; hint: tried DIR LOCK LOCK")
	}
	server, err := servers.StartPrivate(ctx)
	if err != nil {
		return fmt.Errorf("start a server: %w", err)
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for _, name := range args[1:] {
		d, err := find(name)
		if err != nil {
			return err
		}
		dir := filepath.Join(args[0], name)
		trial, err := try(ctx, d, server, dir)
		if err == nil && !sound(name) {
			err = keepBroken(dir, trial)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintln(w, name)
	}
	return nil
}

// find finds a lock of package mutants.
func find(name string) (design.Design, error) {
	all := mutants.Sound()
	for _, m := range mutants.Mutants() {
		all = append(all, m.Design())
	}
	for _, d := range all {
		if d.Name == "mutants/"+name {
			return d, nil
		}
	}
	return design.Design{}, fmt.Errorf("no mutant %q; hint: internal/mutants lists them", name)
}

// try tests a lock with owners in a process each. Its errors are in the histories.
func try(ctx context.Context, d design.Design, server *servers.Server, dir string) (locktest.Result, error) {
	env := design.Environment{
		Services: []any{server.Reach()}, Host: "tried", Now: time.Now, Random: rand.Reader, Pool: 4, Prefix: servers.NewPrefix(),
	}
	return locktest.Try(ctx, func() (lockbench.Locker, error) {
		env.PID++
		p, err := d.Open(env)
		if err != nil {
			return nil, err
		}
		return owner{p.Locker(design.Blind), p}, nil
	}, locktest.WithHistories(dir), locktest.WithTTL(ttl), locktest.WithShort())
}

func sound(name string) bool {
	return slices.ContainsFunc(mutants.Sound(), func(d design.Design) bool { return d.Name == "mutants/"+name })
}

// keepBroken removes the histories in dir without a violation: histories of sound locks
// are as good.
func keepBroken(dir string, trial locktest.Result) error {
	var kept []string
	for _, cell := range trial.Cells.With(checker.Broken) {
		kept = append(kept, trial.Tests[cell].History)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.lbh"))
	for _, file := range files {
		if !slices.Contains(kept, file) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// An owner is a locker that closes its process.
type owner struct {
	lockbench.Locker
	process io.Closer
}

// Close implements io.Closer.
func (o owner) Close() error { return o.process.Close() }
