package luatoken

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

func TestStrategyUnderLostReplies(t *testing.T) {
	for _, name := range []string{"lua-token/strategy", "lua-token/batched"} {
		t.Run(name, func(t *testing.T) { lostReplies(t, name) })
	}
}

func lostReplies(t *testing.T, name string) {
	showAll(t, name, map[string]func(*designtest.Scene){
		"a late release touches no later lock of its owner": func(s *designtest.Scene) {
			warm(s)
			a, b := s.Locker(), s.Locker()
			held := s.Acquire(a)
			arrive := s.Gate.Delay("EVALSHA")
			unknown(s, held.Release(s.Context()))
			s.Expire()
			held = s.Acquire(a)
			s.Want(arrive(), nil)
			s.Refused(b)
			s.Release(held)
		},
		"an acquire leaves the key for its lease at most": func(s *designtest.Scene) {
			s.Gate.LoseReply("SET")
			unknown(s, (<-s.Begin(s.Locker())).Err)
			if got := left(s); got <= 0 || got > s.TTL {
				s.Errorf("the key has %v left, want within (0, %v]", got, s.TTL)
			}
		},
		"a release that was done is told lost when repeated": func(s *designtest.Scene) {
			warm(s)
			held := s.Acquire(s.Locker())
			s.Gate.LoseReply("EVALSHA")
			unknown(s, held.Release(s.Context()))
			s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
		},
		"a failed extend leaves the validity as it was": func(s *designtest.Scene) {
			warm(s)
			held := s.Acquire(s.Locker()).(interface {
				lockbench.Validator
				lockbench.Extender
			})
			from, granted := held.Valid()
			s.Gate.LoseReply("EVALSHA")
			unknown(s, held.Extend(s.Context(), time.Hour))
			if f, g := held.Valid(); !f.Equal(from) || g != granted {
				s.Errorf("valid from %v for %v, want %v for %v", f, g, from, granted)
			}
		},
	})
}

func TestStrategyGrantsWholeMilliseconds(t *testing.T) {
	showAll(t, "lua-token/strategy", map[string]func(*designtest.Scene){
		"rounded up": func(s *designtest.Scene) {
			s.TTL = time.Minute + time.Microsecond
			_, granted := s.Acquire(s.Locker()).(*lock).Valid()
			if want := time.Minute + time.Millisecond; granted != want || s.Granted(s.TTL) != want {
				s.Errorf("granted %v, catalogue says %v, want %v", granted, s.Granted(s.TTL), want)
			}
		},
	})
}

// client returns an obtainer on an embedded server, its observer, and its
// environment.
func client(t *testing.T) (*obtainer, *designtest.Attempts, onredis.Environment) {
	env := designtest.Embedded(t)
	seen := &designtest.Attempts{}
	return newObtainer(env, designtest.Admin(t, env), seen), seen, env
}

func obtain(t *testing.T, c *obtainer, opt obtainOptions) *lock {
	t.Helper()
	l, err := c.obtain(t.Context(), designtest.Key, time.Minute, opt)
	if err != nil {
		t.Fatalf("obtain: %v", err)
	}
	return l
}

func TestLockHoldsWhatIsOnTheServer(t *testing.T) {
	c, _, env := client(t)
	l := obtain(t, c, obtainOptions{Metadata: "job 7"})
	got := []string{l.key, l.token[tokenSize:], designtest.Admin(t, env).Get(t.Context(), l.key).Val()}
	want := []string{env.Prefix + designtest.Key, "job 7", l.token[:tokenSize] + "job 7"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("key, metadata, value (-got +want):\n%s", diff)
	}
	token := l.token[:tokenSize]
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if next := obtain(t, c, obtainOptions{}).token; next == token {
		t.Errorf("two locks with the token %q", token)
	}
}

// The count of retries belongs to one obtain: a second one with the same strategy
// retries as often as the first.
func TestRetriesAreCountedPerObtain(t *testing.T) {
	c, seen, _ := client(t)
	obtain(t, c, obtainOptions{})
	opt := obtainOptions{Retry: limit{Retry: linear(time.Millisecond), Retries: 3}}
	for n := range 2 {
		before := len(seen.Starts())
		_, err := c.obtain(t.Context(), designtest.Key, time.Minute, opt)
		if tries := len(seen.Starts()) - before; tries != 4 || !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("Obtain %d: %d tries, error %v, want 4 and a refusal", n+1, tries, err)
		}
	}
}

func TestObtainEnds(t *testing.T) {
	const short, long = 30 * time.Millisecond, time.Hour
	for _, c := range []struct {
		name      string
		ttl, wait time.Duration
		deadline  time.Duration // of the context, zero is none
		retry     retry
		want      error
		once      bool // after one try
	}{
		{name: "at once without a strategy", ttl: long, want: lockbench.ErrNotAcquired, once: true},
		{name: "at once with None", ttl: long, retry: none{}, want: lockbench.ErrNotAcquired, once: true},
		{name: "with its wait", ttl: long, wait: short, retry: linear(time.Millisecond), want: lockbench.ErrNotAcquired},
		{name: "with its lease, without a deadline", ttl: short, retry: linear(time.Millisecond), want: lockbench.ErrNotAcquired},
		{name: "with the context, whatever the lease", ttl: long, deadline: short, retry: linear(time.Millisecond), want: context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, seen, _ := client(t)
			obtain(t, client, obtainOptions{})
			ctx := t.Context()
			if c.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.deadline)
				defer cancel()
			}
			_, err := client.obtain(ctx, designtest.Key, c.ttl, obtainOptions{Retry: c.retry, Wait: c.wait})
			tries := len(seen.Starts()) - 1
			if !errors.Is(err, c.want) || (tries == 1) != c.once {
				t.Errorf("%d tries, error %v, want %v and once: %t", tries, err, c.want, c.once)
			}
		})
	}
}

func TestRetryPauses(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		retry retry
		want  []time.Duration
	}{
		{"none", none{}, []time.Duration{0, 0}},
		{"linear", linear(7 * ms), []time.Duration{7 * ms, 7 * ms}},
		{"exponential", exponential{}, []time.Duration{2 * ms, 4 * ms, 8 * ms, 16 * ms}},
		{"exponential within bounds", exponential{Min: 3 * ms, Max: 10 * ms}, []time.Duration{3 * ms, 4 * ms, 8 * ms, 10 * ms, 10 * ms}},
		{"limited", limit{Retry: linear(ms), Retries: 2}, []time.Duration{ms, ms, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []time.Duration
			for n := range c.want {
				got = append(got, c.retry.pause(n+1))
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("pauses (-got +want):\n%s", diff)
			}
		})
	}
	if got := (exponential{}).pause(1000); got <= 0 {
		t.Errorf("the 1000th pause is %v, want a positive one", got)
	}
}
