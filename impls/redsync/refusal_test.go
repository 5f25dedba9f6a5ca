package redsync

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
)

// TestLateTryIsATimeout checks a try that every server answered without objection, but too late:
// the key may be set or not.
func TestLateTryIsATimeout(t *testing.T) {
	o := owner{process: &process{clients: make([]*redis.Client, 1)}}
	err := o.refusal(redsync.ErrFailed)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, redsync.ErrFailed) || errors.Is(err, lockbench.ErrNotAcquired) || errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("got %v, want a timeout, and nothing said of its effect", err)
	}
	if err := o.refusal(&redsync.ErrTaken{Nodes: []int{0}}); !errors.Is(err, lockbench.ErrNotAcquired) {
		t.Errorf("got %v for a lock that is taken, want a refusal", err)
	}
}
