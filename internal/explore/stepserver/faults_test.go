package stepserver_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// TestClientFaults injects each fault at a client's request: at a command, a script and a
// transaction.
func TestClientFaults(t *testing.T) {
	sent := []struct {
		name string
		send func(ctx context.Context, c *redis.Client) error
	}{
		{"command", func(ctx context.Context, c *redis.Client) error { return c.Set(ctx, "lock", "a", 0).Err() }},
		{"script", func(ctx context.Context, c *redis.Client) error {
			return c.Eval(ctx, "redis.call('set',KEYS[1],'a') return redis.call('incr',KEYS[2])", []string{"lock", "n"}).Err()
		}},
		{"transaction", func(ctx context.Context, c *redis.Client) error {
			_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "lock", "a", 0)
				p.Incr(ctx, "n")
				return nil
			})
			return err
		}},
	}
	strokes := []struct {
		name    string
		inject  func(s *stepserver.Server, c *stepserver.Command)
		isSet   bool
		returns bool // before Retire
		is      error
	}{
		{"runs", func(s *stepserver.Server, c *stepserver.Command) { s.Run(c) }, true, true, nil},
		{"loses the reply", func(s *stepserver.Server, c *stepserver.Command) { s.RunLosing(c) }, true, true, io.EOF},
		{"is cut", func(s *stepserver.Server, c *stepserver.Command) { s.Cut(c) }, false, true, syscall.ECONNRESET},
		{"times out", func(s *stepserver.Server, c *stepserver.Command) { s.Timeout(c) }, false, true, os.ErrDeadlineExceeded},
		{"runs late", func(s *stepserver.Server, c *stepserver.Command) { s.Timeout(c); synctest.Wait(); s.Run(c) }, true, true, os.ErrDeadlineExceeded},
		{"dies before", func(s *stepserver.Server, c *stepserver.Command) { s.Kill(1) }, false, false, nil},
		{"dies after", func(s *stepserver.Server, c *stepserver.Command) { s.RunUnanswered(c); s.Kill(1) }, true, false, nil},
		{"restarts", func(s *stepserver.Server, c *stepserver.Command) { s.Restart() }, false, true, syscall.ECONNRESET},
		{"runs, restarts", func(s *stepserver.Server, c *stepserver.Command) { s.Run(c); s.Restart() }, false, true, nil},
	}
	for _, what := range sent {
		for _, how := range strokes {
			t.Run(what.name+" "+how.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, b *bench) {
					one, two := b.client(1), b.client(2)
					r := start(func() (int, error) { return 0, what.send(t.Context(), one) })
					how.inject(b.server, b.server.Pending()[0])
					synctest.Wait()
					equal(t, "returned", r.Done, how.returns)
					if !errors.Is(r.Err, how.is) {
						t.Errorf("client got %v, want %v", r.Err, how.is)
					}
					set := start(func() (int64, error) { return two.Exists(t.Context(), "lock").Result() })
					b.step(2)
					equal(t, "set", set.Value == 1, how.isSet)
				})
			})
		}
	}
}

// TestRepliesBeforeABreakAreRead: a connection breaks after replies were sent on it.
func TestRepliesBeforeABreakAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTable(t, 1)
		defer w.server.Close()
		w.send(0, [][]string{{"set", "a", "1"}, {"set", "b", "1"}, {"set", "c", "1"}})
		w.run(0)
		equal(t, "one at a time", w.server.Pending()[0].Args, []string{"set", "b", "1"})
		w.server.RunLosing(w.server.Pending()[0])
		equal(t, "pending", len(w.server.Pending()), 0)
		got, err := io.ReadAll(w.conns[0])
		equal(t, "read", string(got), "+OK\r\n")
		if err != nil {
			t.Errorf("read: %v, want an end of file", err)
		}
		if _, err := w.conns[0].Write([]byte("PING\r\n")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write: %v, want a broken pipe", err)
		}
	})
}

// TestClientFaultsOnTheBlocked injects a fault into a client with a running blocking
// command.
func TestClientFaultsOnTheBlocked(t *testing.T) {
	for _, c := range []struct {
		name    string
		inject  func(s *stepserver.Server, c *stepserver.Command)
		returns bool
		left    int64 // in the list, after a push
	}{
		{"left alone", func(*stepserver.Server, *stepserver.Command) {}, true, 0},
		{"cut", func(s *stepserver.Server, c *stepserver.Command) { s.Cut(c) }, true, 1},
		{"timed out", func(s *stepserver.Server, c *stepserver.Command) { s.Timeout(c) }, true, 1},
		{"killed", func(s *stepserver.Server, c *stepserver.Command) { s.Kill(1) }, false, 1},
		{"restarted", func(s *stepserver.Server, c *stepserver.Command) { s.Restart() }, true, 1},
		// an element given to a crashed thread is lost: its socket is still open
		{"killed thread", func(s *stepserver.Server, c *stepserver.Command) { s.KillClient(1, 7) }, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				ctx, one, two := t.Context(), b.client(1), b.client(2)
				b.server.Attribute(1, 7)
				r := start(func() ([]string, error) { return one.BLPop(ctx, 0, "q").Result() })
				b.step(1)
				c.inject(b.server, b.server.Blocked()[0])
				synctest.Wait()
				start(func() (int64, error) { return two.RPush(ctx, "q", "x").Result() })
				b.step(2)
				equal(t, "returned", r.Done, c.returns)
				left := start(func() (int64, error) { return two.LLen(ctx, "q").Result() })
				b.step(2)
				equal(t, "left in the list", left.Value, c.left)
			})
		})
	}
}

// TestCrashedProcessesDoNotListen: the server sees that a crashed process's connections end.
func TestCrashedProcessesDoNotListen(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one, two := t.Context(), b.client(1), b.client(2)
		listener := one.Subscribe(ctx)
		start(func() (int, error) { return 0, listener.Subscribe(ctx, "freed") })
		b.step(1)
		count := func() int64 {
			r := start(func() (int64, error) { return two.Publish(ctx, "freed", "x").Result() })
			b.step(2)
			return r.Value
		}
		equal(t, "receivers", count(), int64(1))
		b.server.Kill(1)
		equal(t, "receivers", count(), int64(0))
	})
}

// TestOneThreadDies ends one client of a process that shares a pool with another.
func TestOneThreadDies(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, shared := t.Context(), b.client(1)
		work := func(client int, key string) *result[int] {
			return start(func() (int, error) {
				b.server.AttributeGoroutine(1, client)
				for range 2 {
					if err := shared.Incr(ctx, key).Err(); err != nil {
						return 0, err
					}
				}
				return 0, nil
			})
		}
		first, second := work(0, "a"), work(1, "b")
		background := start(func() (int64, error) { return shared.Incr(ctx, "c").Result() })
		var clients []int
		for _, c := range b.server.Pending() {
			clients = append(clients, c.Client)
		}
		equal(t, "clients", clients, []int{-1, 0, 1})
		resume := make(chan bool)
		third := start(func() (int64, error) { // dies between two commands
			b.server.AttributeGoroutine(1, 2)
			<-resume
			return shared.Incr(ctx, "d").Result()
		})
		b.server.KillClient(1, 0)
		b.server.KillClient(1, 2)
		close(resume)
		b.drain()
		equal(t, "returned", []bool{first.Done, second.Done, background.Done, third.Done}, []bool{false, true, true, false})
		b.server.Retire()
		synctest.Wait()
		if !first.Done || first.Err == nil || !third.Done || third.Err == nil {
			t.Errorf("the crashed threads got %+v and %+v, want errors", first, third)
		}
	})
}

// TestResetForgetsTheSchedule leaves something of every kind behind.
func TestResetForgetsTheSchedule(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		fresh := b.server.Fingerprint()
		ctx, one, two, three := t.Context(), b.client(1), b.client(2), b.client(3)
		start(func() (any, error) { return one.Eval(ctx, "return math.random()", nil).Result() })
		b.step(1)
		start(func() (any, error) { return one.Do(ctx, "hset", "h", "f", "v").Result() })
		b.step(1)
		start(func() (any, error) { return one.BLPop(ctx, time.Minute, "q").Result() })
		b.step(1)
		start(func() (any, error) { return two.Get(ctx, "x").Result() })
		b.server.Timeout(b.server.Pending()[0])
		start(func() (any, error) { return three.Get(ctx, "x").Result() })
		b.server.Kill(3)
		synctest.Wait()
		b.server.Retire()
		synctest.Wait()
		b.server.Reset()
		equal(t, "pending", b.args(), [][]string(nil))
		equal(t, "blocked", len(b.server.Blocked()), 0)
		equal(t, "fingerprint", b.server.Fingerprint(), fresh)
		r := start(func() (string, error) { return three.Set(ctx, "x", "1", 0).Result() })
		b.step(3)
		equal(t, "a process of the next schedule", *r, result[string]{"OK", nil, true})
		start(func() (any, error) { return two.Get(ctx, "x").Result() })
		equal(t, "its connection", b.server.Pending()[0].Conn, 1)
	})
}

func TestKeepScripts(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one := t.Context(), b.client(1)
		load := func(source string) {
			start(func() (string, error) { return one.ScriptLoad(ctx, source).Result() })
			b.step(1)
		}
		known := func() []bool {
			r := start(func() ([]bool, error) {
				return one.ScriptExists(ctx, sha("return 1"), sha("return 2")).Result()
			})
			b.step(1)
			return r.Value
		}
		load("return 1")
		b.server.KeepScripts()
		load("return 2")
		equal(t, "known", known(), []bool{true, true})
		b.server.ScriptFlush()
		equal(t, "known after a flush", known(), []bool{false, false})
		b.server.Reset()
		equal(t, "known after a reset", known(), []bool{true, false})
	})
}

// TestClosedServer: nothing of a closed server waits.
func TestClosedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := stepserver.New()
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t: t, server: s}
		r := start(func() (string, error) { return b.client(1).Get(context.Background(), "x").Result() })
		s.Kill(2)
		crashed := start(func() (string, error) { return b.client(2).Get(context.Background(), "x").Result() })
		s.Close()
		synctest.Wait()
		for _, client := range []*result[string]{r, crashed} {
			if !client.Done || client.Err == nil {
				t.Errorf("a client of a closed server got %+v, want an error", client)
			}
		}
		if _, err := s.Dial(1); err == nil {
			t.Error("a closed server can be dialled")
		}
		b.close()
	})
}

// TestPendingOrder dials and sends from many goroutines at once: pending commands come in
// the same order every time.
func TestPendingOrder(t *testing.T) {
	var want string
	for range 20 {
		inBubble(t, func(t *testing.T, b *bench) {
			ctx := t.Context()
			for process := range 3 {
				c := b.client(process)
				for _, key := range []string{"c", "a", "b"} {
					go c.Incr(ctx, key)
				}
			}
			var trace []string
			for args := b.args(); len(args) > 0; args = b.args() {
				for _, a := range args {
					trace = append(trace, strings.Join(a, " "))
				}
				b.server.Run(b.server.Pending()[len(trace)%len(args)])
			}
			got := strings.Join(trace, "\n")
			if want == "" {
				want = got
			}
			equal(t, "trace", got, want)
		})
	}
}

// TestEffectsOfScripts: the reads and writes of a script are the reads and writes of its calls.
func TestEffectsOfScripts(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one := t.Context(), b.client(1)
		run := func(token string) stepserver.Effect {
			start(func() (any, error) { return compareAndDelete.Eval(ctx, one, []string{"lock"}, token).Result() })
			return b.step(1)
		}
		names := []string{"\x00scripts", "\x00script/" + compareAndDelete.Hash()}
		equal(t, "first", run("a"), stepserver.Effect{Process: 1, Reads: append(slices.Clone(names), "lock"), Writes: names[1:], Reply: ":0\r\n"})
		equal(t, "refused", run("a"), stepserver.Effect{Process: 1, Reads: append(slices.Clone(names), "lock"), Reply: ":0\r\n"})
		start(func() (string, error) { return one.Set(ctx, "lock", "a", 0).Result() })
		b.step(1)
		equal(t, "released", run("a"), stepserver.Effect{Process: 1, Reads: append(slices.Clone(names), "lock"), Writes: []string{"lock"}, Reply: ":1\r\n"})
	})
}
