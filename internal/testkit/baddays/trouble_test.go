//go:build linux

package baddays

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// A trouble is what happens to a server of the user's in the middle of a run.
type trouble struct {
	name     string
	settings []string
	happens  func(*server)
	passes   bool // a run during the trouble may pass
}

// trouble lets a server of the user's fail in the middle of a run.
func (b *bench) trouble(ctx context.Context) error {
	return b.troubled(ctx, lock+",hash-reentrant/watchdog", []trouble{
		{"the server is killed and started anew", nil, func(s *server) {
			s.kill()
			time.Sleep(time.Duration(50+b.rand.IntN(1000)) * time.Millisecond)
			_ = s.start(ctx)
		}, true},
		{"the server is gone for good", nil, func(s *server) { s.kill() }, false},
		{"FLUSHALL", nil, func(s *server) { _, _ = s.do("flushall") }, true},
		{"the server becomes a replica", nil, func(s *server) { _, _ = s.do("replicaof", "127.0.0.1", "1") }, false},
		{"its memory is full", nil, func(s *server) { _, _ = s.do("config", "set", "maxmemory", "1") }, false},
		{"it takes 5 clients", []string{"--maxclients", "5"}, func(*server) {}, false},
		{"it stands still", nil, func(s *server) {
			_, _ = s.do("debug", "sleep", "1.5")
		}, true},
		{"its clients are thrown out", nil, func(s *server) { _, _ = s.do("client", "kill", "type", "normal") }, true},
	})
}

// meddle lets others meddle with a server of the user's again and again, so that each design meets it.
func (b *bench) meddle(ctx context.Context) error {
	return b.troubled(ctx, lock+",hash-reentrant/notify,rueidislock/polling", []trouble{
		{"its keys are deleted one by one", nil, untilGone(time.Second, func(s *server) {
			keys, _ := s.do("keys", "*")
			for key := range strings.FieldsSeq(keys) {
				_, _ = s.do("del", key)
			}
		}), true},
		{"it evicts keys for half a second", []string{"--maxmemory-policy", "volatile-random"}, untilGone(time.Second, func(s *server) {
			_, _ = s.do("config", "set", "maxmemory", "1mb")
			time.Sleep(500 * time.Millisecond)
			_, _ = s.do("config", "set", "maxmemory", "0")
		}), true},
		{"its clients are thrown out again and again", nil, untilGone(300*time.Millisecond, func(s *server) {
			_, _ = s.do("client", "kill", "type", "normal")
			_, _ = s.do("client", "kill", "type", "pubsub")
		}), true},
	})
}

// untilGone does something to a server with a pause in between, until the server is gone.
func untilGone(pause time.Duration, do func(*server)) func(*server) {
	return func(s *server) {
		for {
			if _, err := s.do("ping"); err != nil {
				return
			}
			do(s)
			time.Sleep(pause)
		}
	}
}

// troubled runs designs, which are sound, in each trouble.
func (b *bench) troubled(ctx context.Context, designs string, all []trouble) error {
	temp, err := b.sub("temp")
	if err != nil {
		return err
	}
	for _, trouble := range all {
		r := b.table.row(trouble.name)
		for range b.troubles {
			s, err := b.redis(ctx, append(trouble.settings, "--enable-debug-command", "yes")...)
			if err != nil || ctx.Err() != nil {
				return err
			}
			t := trial{
				args: []string{"run", "--design", designs, "--duration", "3s", "--clients", "16", "--explore", "0s", "--server", s.url()},
				temp: temp, at: time.Second + time.Duration(b.rand.IntN(1500))*time.Millisecond, during: func(*exec.Cmd) { trouble.happens(s) },
			}
			o := b.run(ctx, t)
			r.count(t, o)
			switch {
			case o.exit == 1:
				r.note(&r.accused, "lockbench %s: %.3000s", strings.Join(t.args, " "), o.out)
			case o.exit == 0 && !trouble.passes:
				r.note(&r.passed, "lockbench %s: %.3000s", strings.Join(t.args, " "), o.out)
			}
			s.kill()
		}
	}
	return nil
}
