package stepserver_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

func TestSlowReply(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one, two := t.Context(), b.client(1), b.client(2)
		add := start(func() (int64, error) { return one.Incr(ctx, "count").Result() })
		e := b.with(1, b.server.RunSlow)
		equal(t, "effect", e, stepserver.Effect{Process: 1, Writes: []string{"count"}, Reply: ":1\r\n"})
		equal(t, "the client has its answer", add.Done, false)
		equal(t, "pending", b.args(), [][]string{{"incr", "count"}})
		equal(t, "answered", b.server.Pending()[0].Answered(), true)

		again := start(func() (int64, error) { return two.Incr(ctx, "count").Result() })
		equal(t, "another's is answered", b.server.Pending()[1].Answered(), false)
		b.step(2)
		equal(t, "another's", *again, result[int64]{2, nil, true})

		equal(t, "effect of the arrival", b.with(1, b.server.RunSlow), stepserver.Effect{Process: 1, Reply: ":1\r\n"})
		equal(t, "the client", *add, result[int64]{1, nil, true})
		equal(t, "pending at last", b.args(), [][]string(nil))
	})
}

func TestSlowReplyOfATransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one := t.Context(), b.client(1)
		both := start(func() (int, error) {
			done, err := one.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, "count")
				p.Incr(ctx, "count")
				return nil
			})
			return len(done), err
		})
		b.with(1, b.server.RunSlow)
		equal(t, "the client has its answer", both.Done, false)
		b.step(1)
		equal(t, "the client", *both, result[int]{2, nil, true})
		read := start(func() (string, error) { return one.Get(ctx, "count").Result() })
		b.step(1)
		equal(t, "ran once", *read, result[string]{"2", nil, true})
	})
}

// A delayed reply can still be lost, or come too late.
func TestSlowReplyThatNeverArrives(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(s *stepserver.Server, c *stepserver.Command)
	}{
		{"lost", func(s *stepserver.Server, c *stepserver.Command) { s.RunLosing(c) }},
		{"cut", func(s *stepserver.Server, c *stepserver.Command) { s.Cut(c) }},
		{"timed out", func(s *stepserver.Server, c *stepserver.Command) { s.Timeout(c) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				ctx, one, two := t.Context(), b.client(1), b.client(2)
				add := start(func() (int64, error) { return one.Incr(ctx, "count").Result() })
				b.with(1, b.server.RunSlow)
				c.fault(b.server, b.server.Pending()[0])
				b.drain()
				if !add.Done || add.Err == nil {
					t.Errorf("the client got %+v, want an error", add)
				}
				read := start(func() (string, error) { return two.Get(ctx, "count").Result() })
				b.step(2)
				equal(t, "ran once", *read, result[string]{"1", nil, true})
			})
		})
	}
}

// A command that waits for other clients is answered by them, later anyway.
func TestSlowReplyOfACommandThatBlocks(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		ctx, one, two := t.Context(), b.client(1), b.client(2)
		pop := start(func() ([]string, error) { return one.BLPop(ctx, time.Minute, "queue").Result() })
		b.with(1, b.server.RunSlow)
		push := start(func() (int64, error) { return two.RPush(ctx, "queue", "x").Result() })
		b.step(2)
		equal(t, "pushed", push.Done, true)
		equal(t, "popped", *pop, result[[]string]{[]string{"queue", "x"}, nil, true})
	})
}
