package inject

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestAwaitGrant: a due fault occurs at the next grant; if none comes, at a lock that is held
// for long; and never without a holder.
func TestAwaitGrant(t *testing.T) {
	const lease = time.Second
	for _, c := range []struct {
		name        string
		held, grant bool
		until       time.Duration
		want        bool
		after       time.Duration
	}{
		{"the next grant", true, true, 0, true, 50 * time.Millisecond},
		{"a lock held for long", true, false, 0, true, lease / grantPatience},
		{"nobody holds one, and its time is over", false, false, time.Second, false, time.Second},
		{"nobody holds one, and the run ends", false, false, 0, false, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := &Injector{config: Config{Lease: lease}, start: time.Now()}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if c.held {
					in.held.Store(1)
				}
				if c.grant {
					time.AfterFunc(50*time.Millisecond, in.granted.tell)
				}
				if got := in.awaitGrant(ctx, &plan{Fault: fault.Fault{Until: c.until}}); got != c.want {
					t.Errorf("got %v, want %v", got, c.want)
				}
				if took := time.Since(in.start); took < c.after || took > c.after+2*checkInterval {
					t.Errorf("it waited %v, want %v", took, c.after)
				}
			})
		})
	}
}

// TestAtLeast: a fault with its usual chance occurs in a short run, one with another chance by
// chance alone.
func TestAtLeast(t *testing.T) {
	server := servertest.Start(t)
	for p, want := range map[float64]time.Duration{0.001: clientFaultInterval, 0.002: 0} {
		in, err := New(Config{Faults: []fault.Fault{{Kind: fault.Crash, P: p}}, Services: []design.Service{server}, Lease: time.Second, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := in.plans[0].interval; got != want {
			t.Errorf("p=%v: got %v, want %v", p, got, want)
		}
	}
}
