package bubble

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/explore"
)

// A pretender stands for a child without a process: its parent listens in virtual time.
type pretender struct {
	parent *process
	once   sync.Once
	told   chan struct{} // closed when the child is to stop
}

// Close closes its input.
func (c *pretender) Close() error {
	c.once.Do(func() { close(c.told) })
	return nil
}

// send sends m, and reports whether the parent listened.
func (c *pretender) send(m message) bool {
	select {
	case c.parent.messages <- m:
		return true
	case <-c.parent.ended:
		return false
	}
}

// answer sends a result with so many grants.
func (c *pretender) answer(grants int64) {
	c.send(message{Answer: answerOf(explore.Result{Grants: grants}, nil)})
}

// beat reports a step so many times at an interval, and reports whether the parent
// listened.
func (c *pretender) beat(every time.Duration, times int) bool {
	for n := range times {
		time.Sleep(every)
		if !c.send(message{Beat: int64(n)}) {
			return false
		}
	}
	return true
}

// pretend follows a child as its parent does, and returns how long that took: the end of
// a child that is given up may take longer.
func pretend(ctx context.Context, patience time.Duration, child func(*pretender)) (r explore.Result, took time.Duration, err error) {
	c := &pretender{told: make(chan struct{})}
	nothing := func() error { return nil }
	c.parent = &process{
		in: c, messages: make(chan message), ended: make(chan struct{}), terminate: nothing, wait: nothing, grace: grace,
	}
	go func() {
		defer close(c.parent.messages)
		child(c)
	}()
	defer c.parent.end()
	began := time.Now()
	r, err = c.parent.follow(ctx, patience, func(explore.Progress) {})
	return r, time.Since(began), err
}

// TestPatience lets children take steps for much longer than the patience, or take none,
// and end or go on when they are interrupted.
func TestPatience(t *testing.T) {
	const patience = 2 * time.Second
	lasting := func(c *pretender) {
		if c.beat(patience-1, 100) {
			c.answer(7)
		}
	}
	for _, c := range []struct {
		name      string
		interrupt time.Duration // when; zero is never, and a context that cannot
		child     func(*pretender)
		failure   string
		after     time.Duration
	}{
		{"takes steps", 0, lasting, "", 100 * (patience - 1)},
		{"takes steps and could be interrupted", time.Hour, lasting, "", 100 * (patience - 1)},
		{"takes none", 0, func(c *pretender) { <-c.parent.ended }, "no step was taken for 2s", patience},
		{"takes no more", 0, func(c *pretender) {
			c.beat(time.Second, 9)
			<-c.parent.ended
		}, "no step was taken for 2s", 9*time.Second + patience},
		{"answers when it is interrupted", 5 * time.Second, func(c *pretender) {
			c.beat(time.Second, 4)
			<-c.told
			time.Sleep(grace - 1)
			c.answer(7)
		}, "", 5*time.Second + grace - 1},
		{"goes on when it is interrupted", 5 * time.Second, func(c *pretender) { c.beat(time.Second, 100) }, "it was interrupted and did not stop", 5*time.Second + grace},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				if c.interrupt > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, c.interrupt)
					defer cancel()
				}
				got, took, err := pretend(ctx, patience, c.child)
				if c.failure == "" && (err != nil || got.Grants != 7) || c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)) {
					t.Errorf("got %d, %v; want an answer, or %q", got.Grants, err, c.failure)
				}
				if took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// TestBeat checks that a child reports steps if it took some, and only then.
func TestBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := &child{out: bufio.NewWriter(&out)}
		go c.beat(t.Context())
		var told []string
		for _, steps := range []int64{0, 5, 0, 0, 1} {
			c.steps.Add(steps)
			time.Sleep(pulse)
			synctest.Wait()
			told = append(told, strings.TrimSpace(out.String()))
			out.Reset()
		}
		if diff := cmp.Diff(told, []string{"", `{"Beat":5}`, "", "", `{"Beat":6}`}); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
	})
}
