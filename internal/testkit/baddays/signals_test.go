//go:build linux

package baddays

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// underWay is a time after which every verb is at work.
const underWay = 3 * time.Second

// signal sends each signal to each verb, and closes the terminal of each.
func (b *bench) signal(ctx context.Context) error {
	user, err := b.redis(ctx)
	if err != nil {
		return err
	}
	defer user.kill()
	temp, err := b.sub("temp")
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name   string
		signal syscall.Signal // zero closes its output instead
	}{{"SIGINT", syscall.SIGINT}, {"SIGTERM", syscall.SIGTERM}, {"SIGQUIT", syscall.SIGQUIT}, {"SIGHUP", syscall.SIGHUP}, {"closed terminal", 0}} {
		r := b.table.row(s.name)
		for range b.signals {
			for n := range long("", "") {
				dir, err := b.sub("signalled")
				if err != nil || ctx.Err() != nil {
					return err
				}
				b.interrupt(ctx, r, s.signal, trial{args: long(dir, user.url())[n], temp: temp, at: underWay}, dir)
				if keys, err := user.do("dbsize"); err != nil || keys != "0" {
					r.note(&r.left, "%s keys on the server after %s to lockbench %s", keys, s.name, strings.Join(long(dir, user.url())[n], " "))
				}
				if !gone(temp) {
					r.note(&r.left, "processes go on after %s to lockbench %s", s.name, strings.Join(long(dir, user.url())[n], " "))
				}
				_ = os.RemoveAll(dir)
			}
		}
		if left := leftIn(temp); len(left) > 0 {
			r.note(&r.left, "folders %v", left)
		}
	}
	return nil
}

// interrupt signals a call, or closes its output, and judges its end.
func (b *bench) interrupt(ctx context.Context, r *row, s syscall.Signal, t trial, dir string) {
	if s == 0 {
		t.args = short(t.args)
		t.closed = true
	} else {
		t.during = func(cmd *exec.Cmd) { _ = cmd.Process.Signal(s) }
	}
	begun := time.Now()
	o := b.run(ctx, t)
	r.count(t, o)
	after := time.Since(begun) - t.at
	if s != 0 && after > 20*time.Second {
		r.note(&r.hung, "lockbench %s ended %v after the signal", strings.Join(t.args, " "), after)
	}
	if s != 0 && o.exit == 0 && after > 0 {
		r.note(&r.passed, "lockbench %s was cut and passed: %.500s", strings.Join(t.args, " "), o.out)
	}
	if o.exit == 1 {
		r.note(&r.accused, "lockbench %s: %.1500s", strings.Join(t.args, " "), o.out)
	}
	if _, err := os.Stat(filepath.Join(dir, "result.json")); err != nil {
		r.note(&r.lost, "lockbench %s wrote no result: exit %d: %.500s", strings.Join(t.args, " "), o.exit, o.out)
	}
	b.readBack(ctx, r, dir, t.temp)
}

// closing reads the output of a call for a while, and then closes it.
func closing(cmd *exec.Cmd, after time.Duration) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = write, write
	go func() { _, _ = io.Copy(io.Discard, read) }()
	time.AfterFunc(after, func() {
		_ = read.Close()
		_ = write.Close()
	})
	return nil
}
