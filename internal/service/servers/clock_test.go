package servers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// untilGone is the time to live that the server reports for key; negative when it is gone.
func untilGone(t *testing.T, s *servers.Server, key string) time.Duration {
	t.Helper()
	left, err := clientOf(t, s).PTTL(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestSetClock: a step ahead takes from the leases that are running, a step back adds to
// them, and both may be done again.
func TestSetClock(t *testing.T) {
	s := servertest.Clocked(t)
	const lease = time.Minute
	for _, c := range []struct {
		name   string
		ahead  time.Duration
		from   time.Duration // when the lease is granted
		gone   bool
		longer bool
	}{
		{"ahead of it", 2 * lease, 0, true, false},
		{"back to it", 0, 2 * lease, false, true},
		{"behind it", -lease, 0, false, true},
		{"from behind to right", 0, -3 * lease, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := s.SetClock(t.Context(), c.from); err != nil {
				t.Fatal(err)
			}
			if err := clientOf(t, s).Set(t.Context(), "key", "held", lease).Err(); err != nil {
				t.Fatal(err)
			}
			if err := s.SetClock(t.Context(), c.ahead); err != nil {
				t.Fatal(err)
			}
			left := untilGone(t, s, "key")
			if gone := left < 0; gone != c.gone {
				t.Errorf("%v left of the lease; want it gone: %t", left, c.gone)
			}
			if c.longer && left <= lease {
				t.Errorf("%v left of a lease of %v; want more", left, lease)
			}
		})
	}
}

// TestClockOutlivesRestart: a restart does not set the clock right.
func TestClockOutlivesRestart(t *testing.T) {
	s := servertest.Clocked(t)
	if err := s.SetClock(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), func() {}); err != nil {
		t.Fatal(err)
	}
	told, err := clientOf(t, s).Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(told); ahead < 30*time.Minute {
		t.Errorf("the clock is %v ahead after a restart; want an hour", ahead)
	}
}

func TestSetClockNeedsOwnClock(t *testing.T) {
	err := servertest.Start(t).SetClock(t.Context(), time.Second)
	if err == nil || !strings.Contains(err.Error(), "hint: call OwnClock") {
		t.Errorf("got %v; want an error that says what is missing", err)
	}
}
