//go:build linux

package baddays

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockbench/lockbench/adapters"
)

// services kills lockbench at a random time of a run on each service beside Redis, while its private server
// starts or serves. The services of adapters are among them if LOCKBENCH_ADAPTERS is set.
func (b *bench) services(ctx context.Context) error {
	type chosen struct {
		name string
		args []string
	}
	var all []chosen
	for _, name := range []string{"postgres/session", "postgres/session-pooled", "mariadb/session", "nats/kv"} {
		all = append(all, chosen{name, []string{"--design", name}})
	}
	if libraries := os.Getenv("LOCKBENCH_ADAPTERS"); libraries != "" {
		for _, name := range []string{"etcd/mutex", "kazoo/lock"} {
			all = append(all, chosen{name, []string{"--adapter", adapters.MustShipped(name).Shell(b.adapters, libraries)}})
		}
	}
	for _, s := range all {
		temp, err := b.sub("temp")
		if err != nil {
			return err
		}
		for _, dir := range []string{b.folder, temp} { // else a server that refuses root has its folder elsewhere
			if err := os.Chmod(dir, 0o755); err != nil {
				return err
			}
		}
		r := b.table.row("kill -9 of lockbench on " + s.name)
		for range b.serviceKills {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			dir, err := b.sub("killed")
			if err != nil {
				return err
			}
			t := trial{
				args:   append([]string{"run", "--duration", "20s", "--fault", "crash", "--history", filepath.Join(dir, "own")}, s.args...),
				temp:   temp,
				at:     time.Duration(50+b.rand.IntN(5000)) * time.Millisecond,
				during: func(cmd *exec.Cmd) { _ = cmd.Process.Kill() },
			}
			o := b.run(ctx, t)
			r.count(t, o)
			if o.exit >= 0 {
				r.note(&r.broken, "lockbench %s: exit %d before it was killed: %.500s", strings.Join(t.args, " "), o.exit, o.out)
			}
			if !gone(temp) {
				r.note(&r.left, "lockbench %s: processes %v go on", strings.Join(t.args, " "), marked(temp))
			}
			b.readBack(ctx, r, dir, temp)
			_ = os.RemoveAll(dir)
		}
		b.foldersLeft(ctx, r, temp, s.args...)
	}
	return nil
}
