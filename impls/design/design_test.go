package design_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

func TestPollTriesUntilTheWaitIsOver(t *testing.T) {
	for _, c := range []struct {
		wait, pause time.Duration
		grantAt     int // the try that grants, 0 is none
		tries       int
		took        time.Duration
		err         error
	}{
		{wait: 0, pause: 10, tries: 1, took: 0, err: lockbench.ErrNotAcquired},
		{wait: 25, pause: 10, tries: 4, took: 25, err: lockbench.ErrNotAcquired},
		{wait: 30, pause: 10, tries: 4, took: 30, err: lockbench.ErrNotAcquired},
		{wait: 5, pause: 10, tries: 2, took: 5, err: lockbench.ErrNotAcquired},
		{wait: 100, pause: 10, grantAt: 3, tries: 3, took: 20},
		{wait: 0, pause: 10, grantAt: 1, tries: 1, took: 0},
	} {
		t.Run(fmt.Sprintf("wait %d pause %d", c.wait, c.pause), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, start := 0, time.Now()
				err := design.Poll(t.Context(), c.wait, design.Every(c.pause), func() (bool, error) {
					tries++
					return tries == c.grantAt, nil
				})
				if !errors.Is(err, c.err) || tries != c.tries || time.Since(start) != c.took {
					t.Errorf("got %v after %d tries and %d, want %v, %d, %d", err, tries, time.Since(start), c.err, c.tries, c.took)
				}
			})
		})
	}
}

func TestPollEndsWithItsContextAndWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
		defer cancel()
		start := time.Now()
		refuse := func() (bool, error) { return false, nil }
		err := design.Poll(ctx, time.Minute, design.Every(10*time.Millisecond), refuse)
		if !errors.Is(err, lockbench.ErrNoEffect) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want no effect, deadline exceeded", err)
		}
		if got := time.Since(start); got != 15*time.Millisecond {
			t.Errorf("ended after %v, want 15ms", got)
		}
		err = design.Poll(t.Context(), time.Minute, design.Every(1), func() (bool, error) { return false, io.EOF })
		if !errors.Is(err, io.EOF) || errors.Is(err, lockbench.ErrNoEffect) {
			t.Errorf("got %v, want EOF as it is", err)
		}
	})
}

func TestRounding(t *testing.T) {
	for _, c := range []struct{ ask, seconds, millis time.Duration }{
		{0, time.Second, time.Millisecond},
		{1, time.Second, time.Millisecond},
		{time.Second, time.Second, time.Second},
		{1500 * time.Microsecond, time.Second, 2 * time.Millisecond},
		{1001 * time.Millisecond, 2 * time.Second, 1001 * time.Millisecond},
	} {
		if got := design.WholeSeconds(c.ask); got != c.seconds {
			t.Errorf("WholeSeconds(%v) = %v, want %v", c.ask, got, c.seconds)
		}
		if got := design.WholeMillis(c.ask); got != c.millis {
			t.Errorf("WholeMillis(%v) = %v, want %v", c.ask, got, c.millis)
		}
	}
}

// An elsewhere is a backend other than Redis.
type elsewhere struct{ design.Backend }

// TestExplorable checks that a design is explorable only on a single Redis server, and that the
// error for any other names the property that prevents it.
func TestExplorable(t *testing.T) {
	for _, c := range []struct {
		design design.Design
		want   string // in the error, empty for none
	}{
		{design.Design{Name: "a/b"}, ""},
		{design.Design{Name: "a/b", LiveOnly: "it looks at the sun"}, "it looks at the sun; hint: lockbench run --design a/b"},
		{design.Design{Name: "a/b", Servers: 3}, "it locks on 3 servers"},
		{design.Design{Name: "a/b", Backend: elsewhere{}}, "it does not stand on Redis"},
	} {
		err := c.design.Explorable()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
