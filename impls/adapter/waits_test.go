package adapter

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// TestLibraryWaits: the wait of a client reaches the adapter, which has so long and answerTime to answer. What
// it grants has its lease, whose start is unknown.
func TestLibraryWaits(t *testing.T) {
	in, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer ours.Close()
	lines := bufio.NewReader(in)
	synctest.Test(t, func(t *testing.T) {
		p := &program{in: ours, done: make(chan struct{}), waiting: map[int64]waiter{}}
		l := (&process{program: p, set: Settings{Waits: true}, hello: Hello{GrainMS: 1}, env: design.Environment{}}).Locker(design.Blind)
		acquire := func(wait time.Duration, line string, a *answer) (lockbench.Lease, error) {
			t.Helper()
			if a != nil {
				time.AfterFunc(wait, func() { _ = p.take(*a) })
			}
			lease, err := l.Acquire(t.Context(), "key", lockbench.Options{TTL: 2 * time.Second, Wait: wait})
			if got, _ := lines.ReadString('\n'); strings.TrimSpace(got) != line {
				t.Errorf("it got %s, want %s", got, line)
			}
			return lease, err
		}
		began := time.Now()
		const wait = 3 * time.Second
		_, err := acquire(wait, `{"id":1,"owner":1,"op":"acquire","key":"key","ttl_ms":2000,"wait_ms":3000}`, nil)
		if got := time.Since(began); !errors.Is(err, errUnanswered) || got != wait+answerTime {
			t.Errorf("without an answer: error %v after %v, want one after %v", err, got, wait+answerTime)
		}
		_ = p.take(answer{ID: 1, Error: errorRefused})
		synctest.Wait()

		_, err = acquire(wait, `{"id":2,"owner":1,"op":"acquire","key":"key","ttl_ms":2000,"wait_ms":3000}`, &answer{ID: 2, Error: errorRefused})
		if !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("refused: %v", err)
		}
		lease, err := acquire(wait, `{"id":3,"owner":1,"op":"acquire","key":"key","ttl_ms":2000,"wait_ms":3000}`, &answer{ID: 3, OK: &grant{Hold: 7}})
		if err != nil {
			t.Fatal(err)
		}
		if from, granted := lease.(lockbench.Validator).Valid(); !from.IsZero() || granted != 2*time.Second {
			t.Errorf("valid from %v for %v, want from an unknown instant for 2s", from, granted)
		}
		if lease, err = acquire(0, `{"id":4,"owner":1,"op":"acquire","key":"key","ttl_ms":2000}`, &answer{ID: 4, OK: &grant{Hold: 8}}); err != nil {
			t.Fatal(err)
		}
		if from, _ := lease.(lockbench.Validator).Valid(); from.IsZero() {
			t.Error("without a wait the start of the only attempt is unknown")
		}
	})
}
