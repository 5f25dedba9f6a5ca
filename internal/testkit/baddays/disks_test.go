//go:build linux

package baddays

import (
	"context"
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
	return nil
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
