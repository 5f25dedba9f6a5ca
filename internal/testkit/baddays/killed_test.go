//go:build linux

package baddays

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lock is sound: no failure of lockbench or a server may lead to its accusation.
const lock = "lua-token/strategy"

// long returns calls that take longer than the time they get.
func long(dir, url string) [][]string {
	out := "json=" + filepath.Join(dir, "result.json")
	return [][]string{
		{"run", "--design", lock, "--duration", "20s", "--history", filepath.Join(dir, "own"), "--out", out},
		{"run", "--design", lock, "--duration", "20s", "--workload", "oversell", "--server", url, "--history", filepath.Join(dir, "theirs"), "--out", out},
		{"run", "--design", lock, "--duration", "20s", "--fault", "pause", "--fault", "lost-reply,p=0.01", "--out", out},
		{"run", "--design", lock, "--clients", "1,2,4,8,16", "--keys", "1,4", "--duration", "5s", "--out", out},
		{"compare", "--run", "9", lock, "lua-token/token", "--duration", "2s", "--out", out},
		{"limit", "ttl", lock, "--hold", "exp:10ms", "--out", out}, // shorter holds take a fast machine three seconds
		{"matrix", lock, "lua-token/fenced", "--budget", "5m", "--out", out},
		{"explore", lock, "--budget", "20s", "--out", out},
	}
}

// kill kills lockbench, and in every fifth trial a child of it, at a random time.
func (b *bench) kill(ctx context.Context) error {
	user, err := b.redis(ctx)
	if err != nil {
		return err
	}
	defer user.kill()
	temp, err := b.sub("temp")
	if err != nil {
		return err
	}
	self, child := b.table.row("kill -9 of lockbench"), b.table.row("kill -9 of a child")
	for n := range b.kills {
		dir, err := b.sub("killed")
		if err != nil || ctx.Err() != nil {
			return err
		}
		verbs := long(dir, user.url())
		t := trial{args: verbs[b.rand.IntN(len(verbs))], temp: temp, at: time.Duration(50+b.rand.IntN(1500)) * time.Millisecond}
		r := self
		t.during = func(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
		if n%5 == 4 {
			r = child
			t.during = func(cmd *exec.Cmd) {
				if !killChild(cmd.Process.Pid, temp) {
					_ = cmd.Process.Kill()
				}
			}
			// A call that goes on without its child must end by itself.
			t.args = short(t.args)
		}
		o := b.run(ctx, t)
		r.count(t, o)
		if o.exit == 1 {
			r.note(&r.accused, "lockbench %s: %.1500s", strings.Join(t.args, " "), o.out)
		}
		if !gone(temp) {
			r.note(&r.left, "lockbench %s: processes %v go on", strings.Join(t.args, " "), marked(temp))
		}
		b.readBack(ctx, r, dir, temp)
		_ = os.RemoveAll(dir)
	}
	return b.nextStart(ctx, self, temp, user)
}

// short shortens a call so that it soon ends by itself.
func short(args []string) []string {
	short := append([]string{}, args...)
	for i, arg := range short {
		switch arg {
		case "20s", "5s", "5m":
			short[i] = "2s"
		case "1,2,4,8,16":
			short[i] = "4"
		case "1,4":
			short[i] = "1"
		}
	}
	switch short[0] {
	case "compare":
		short = append(short, "--duration", "300ms")
	case "matrix":
		short = append(short, "--drivers", "explore", "--budget", "4s")
	}
	return short
}

// killChild kills a process started by the given one, and reports whether there was one.
func killChild(pid int, temp string) bool {
	for _, other := range marked(temp) {
		if other != pid {
			return syscall.Kill(other, syscall.SIGKILL) == nil
		}
	}
	return false
}

// readBack checks that the written part of each history can be judged, and accuses no lock.
func (b *bench) readBack(ctx context.Context, r *row, dir, temp string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.lbh"))
	for _, file := range files {
		o := b.run(ctx, trial{args: []string{"check", file}, temp: temp})
		switch {
		case o.exit == 1:
			r.note(&r.accused, "lockbench check of what a killed run wrote: %.1500s", o.out)
		case o.exit != 0 && o.exit != 3 && !strings.Contains(o.out, "empty") && !strings.Contains(o.out, "cut short"):
			r.note(&r.lost, "lockbench check of what a killed run wrote: exit %d: %.500s", o.exit, o.out)
		}
	}
}

// nextStart checks the leftovers after lockbench has been started once more: folders, and keys on
// the user's server without expiry.
func (b *bench) nextStart(ctx context.Context, r *row, temp string, user *server) error {
	b.foldersLeft(ctx, r, temp, "--design", lock)
	keys, err := user.do("eval", `local left = {} for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', k) == -1 then left[#left+1] = k end end return left`, "0")
	if err != nil {
		return err
	}
	if keys != "" {
		r.note(&r.left, "keys without a TTL: %.500s", keys)
	}
	return nil
}

// foldersLeft runs locks, by these flags, once more, and checks that no folder is left. All who made hidden
// folders are dead, but the run knows that of old ones alone.
func (b *bench) foldersLeft(ctx context.Context, r *row, temp string, locks ...string) {
	hidden, _ := filepath.Glob(filepath.Join(temp, ".lockbench-*"))
	for _, dir := range hidden {
		past := time.Now().Add(-time.Hour)
		_ = os.Chtimes(dir, past, past)
	}
	o := b.run(ctx, trial{args: append([]string{"run", "--duration", "200ms", "--explore", "0s"}, locks...), temp: temp})
	if o.exit != 0 && o.exit != 3 {
		r.note(&r.broken, "the next start: exit %d: %.500s", o.exit, o.out)
	}
	for _, dir := range leftIn(temp) {
		r.note(&r.left, "folder %s", dir)
	}
}
