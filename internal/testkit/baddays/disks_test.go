//go:build linux

package baddays

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// good is the earlier content of a file.
const good = "what was written before\n"

// disks lets every verb write to impossible places, with too few file handles, and without a folder
// for temporary files.
func (b *bench) disks(ctx context.Context) error {
	full, handles := b.table.row("a file that cannot be written"), b.table.row("few file handles, no temporary folder")
	temp, err := b.sub("temp")
	if err != nil {
		return err
	}
	for n := range long("", "") {
		if n == 1 {
			continue // like the first, on another server
		}
		for _, target := range []string{"/dev/full", "/dev/null/x", "limited"} {
			dir, err := b.sub("full")
			if err != nil || ctx.Err() != nil {
				return err
			}
			t := trial{args: short(long(dir, "")[n]), temp: temp}
			file := filepath.Join(dir, "result.json")
			if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
				return err
			}
			if target == "limited" {
				t.limits = "ulimit -f 2;" // of 1,024 bytes: less than any result
				t.args = without(t.args, "--history")
			} else {
				t.args[len(t.args)-indexOfOut(t.args)] = "json=" + target
			}
			b.unwritten(ctx, full, t, file, target == "limited")
		}
		dir, err := b.sub("handles")
		if err != nil {
			return err
		}
		for _, t := range []trial{
			{args: short(long(dir, "")[n]), temp: temp, limits: "ulimit -n 24;"},
			{args: short(long(dir, "")[n]), temp: filepath.Join(dir, "missing")},
		} {
			o := b.run(ctx, t)
			handles.count(t, o)
			if o.exit == 1 {
				handles.note(&handles.accused, "lockbench %s: %.1500s", strings.Join(t.args, " "), o.out)
			}
		}
	}
	return b.blocks(ctx, temp)
}

// A writer is a call that writes files.
type writer struct {
	args    []string
	file    string // to write, or a file in the directory to write
	appends bool   // rather than replaces
	prints  bool   // what was measured
}

// blocks makes the first, second and each later block of every kind of output the first one that
// cannot be written, until all can be.
func (b *bench) blocks(ctx context.Context, temp string) error {
	r := b.table.row("the n-th block of a file cannot be written")
	dir, err := b.sub("blocks")
	if err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	if o := b.run(ctx, trial{args: []string{"run", "--design", lock, "--clients", "4", "--duration", "300ms", "--explore", "0s", "--history", in("own"), "--out", "json=" + in("run.json")}, temp: temp}); o.exit != 0 && o.exit != 3 {
		return fmt.Errorf("no run: exit %d: %s", o.exit, o.out)
	}
	history, saved := in("own/lua-token-strategy.lbh"), in("matrix.json")
	if o := b.run(ctx, trial{args: []string{"matrix", "setnx-getset/naive", "--drivers", "explore", "--schedules", "50", "--out", "json=" + saved}, temp: temp}); o.exit != 0 {
		return fmt.Errorf("no matrix: exit %d: %s", o.exit, o.out)
	}
	all := []writer{
		{args: []string{"check", history, "--out", "hgrm=" + in("percentiles")}, file: in("percentiles/lua-token-strategy.measured.acquire.hgrm"), prints: true},
		{args: []string{"report", in("run.json"), "--out", "html=" + in("page")}, file: in("page"), prints: true},
		{args: []string{"report", in("run.json"), "--out", "svg=" + in("pictures")}, file: in("pictures/latency.svg"), prints: true},
		{args: []string{"explain", "setnx-getset/naive", "recovery@crash", "--from", "../../../docs/matrix.json", "--save", in("replay")}, file: in("replay"), prints: true},
		{args: []string{"matrix", "--resume", saved, "--out", "json=" + in("again.json")}, file: in("again.json"), prints: true},
	}
	for _, kind := range []string{"json", "hlog", "bench", "csv", "html", "junit", "markdown", "github"} {
		all = append(all, writer{args: []string{"check", history, "--out", kind + "=" + in(kind)}, file: in(kind), appends: kind == "github", prints: true})
	}
	for _, w := range all {
		if err := b.eachBlock(ctx, r, w, temp); err != nil {
			return err
		}
	}
	return nil
}

// mostBlocks is more than any file has.
const mostBlocks = 1000

// eachBlock calls w with room for no block, for one, and so on, until it succeeds.
func (b *bench) eachBlock(ctx context.Context, r *row, w writer, temp string) error {
	before := []byte(good)
	if err := os.MkdirAll(filepath.Dir(w.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(w.file, before, 0o600); err != nil {
		return err
	}
	var changed [][]byte // of several files of a call one may be new, and whole, when another cannot be written
	for n := range mostBlocks {
		t := trial{args: w.args, temp: temp, limits: fmt.Sprintf("ulimit -f %d;", n)}
		o := b.run(ctx, t)
		r.count(t, o)
		said := fmt.Sprintf("with room for %d KiB, lockbench %s: exit %d", n, strings.Join(w.args, " "), o.exit)
		text, err := os.ReadFile(w.file)
		if err != nil {
			return err
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(w.file), ".lockbench-*"))
		if err != nil {
			return err
		}
		if o.exit != 0 && o.exit != 3 && !bytes.Equal(text, before) {
			changed = append(changed, text)
		}
		switch {
		case len(left) > 0:
			r.note(&r.left, "%s: %q", said, left)
		case o.exit == 1:
			r.note(&r.accused, "%s: %.1500s", said, o.out)
		case o.exit == 0 || o.exit == 3:
			if bytes.Equal(text, before) || w.appends && !bytes.HasPrefix(text, before) {
				r.note(&r.lost, "%s: the file has %.200q", said, text)
			}
			for _, early := range changed {
				if !bytes.Equal(early, text) {
					r.note(&r.lost, "lockbench %s: the earlier file became %.200q", strings.Join(w.args, " "), early)
				}
			}
			if n == 0 {
				return fmt.Errorf("%s: nothing kept it from writing", said)
			}
			return nil
		case !strings.Contains(o.out, "file too large"):
			r.note(&r.lost, "%s: no reason: %.500s", said, o.out)
		case w.prints && !strings.Contains(o.out, "setnx-getset/naive") && !strings.Contains(o.out, lock):
			r.note(&r.lost, "%s: it printed no result: %.500s", said, o.out)
		}
	}
	return fmt.Errorf("lockbench %s needs more than %d KiB", strings.Join(w.args, " "), mostBlocks)
}

// indexOfOut is the distance of --out's value from the end.
func indexOfOut(args []string) int {
	for i, arg := range args {
		if arg == "--out" {
			return len(args) - i - 1
		}
	}
	return 0
}

// without removes a flag with its value.
func without(args []string, flag string) (rest []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == flag {
			i++
			continue
		}
		rest = append(rest, args[i])
	}
	return rest
}

// unwritten checks a call with a result that cannot be written: it must fail, print its
// measurements, and leave the earlier file unchanged.
func (b *bench) unwritten(ctx context.Context, r *row, t trial, before string, measures bool) {
	o := b.run(ctx, t)
	r.count(t, o)
	switch text, err := os.ReadFile(before); {
	case o.exit == 0:
		r.note(&r.passed, "lockbench %s wrote nothing and passed", strings.Join(t.args, " "))
	case o.exit == 1:
		r.note(&r.accused, "lockbench %s: %.1500s", strings.Join(t.args, " "), o.out)
	case measures && !strings.Contains(o.out, lock):
		r.note(&r.lost, "%s lockbench %s: exit %d: %.500s", t.limits, strings.Join(t.args, " "), o.exit, o.out)
	case err != nil || string(text) != good:
		r.note(&r.lost, "lockbench %s destroyed what was there", strings.Join(t.args, " "))
	}
}
