package stepserver_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// A watcher of executed commands can record them before the client has its answer.
func TestExecutedComesBeforeTheAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		client := b.client(1)
		set := start(func() (string, error) { return client.Set(context.Background(), "job-1", "x", 0).Result() })
		calls := 0
		b.server.Executed(func(_ *stepserver.Command, e stepserver.Effect) {
			calls++
			synctest.Wait() // as far as the client can come
			if set.Done || !b.server.Has("job-1") || len(e.Writes) == 0 {
				t.Errorf("the client is done: %v, the key is there: %v, writes: %v; want a command that was run and not yet answered", set.Done, b.server.Has("job-1"), e.Writes)
			}
		})
		b.step(1)
		if !set.Done || set.Err != nil || calls != 1 {
			t.Errorf("the client is done: %v, error %v, after %d calls; want it done after one", set.Done, set.Err, calls)
		}
	})
}
