package workloads

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// step makes n iterations of w by client 0, in virtual time, and returns the
// client and how long they took.
func step(t *testing.T, w Program, o Options, s *script, n int) (*Client, time.Duration) {
	t.Helper()
	return stepWith(t, w, o, s, s, n)
}

func stepWith(t *testing.T, w Program, o Options, l lockbench.Locker, s *script, n int) (*Client, time.Duration) {
	t.Helper()
	o, err := w.Options(o)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c := NewRun(o, make(chan struct{})).Client(0, l, s)
	for range n {
		_ = c.Iterate(t.Context(), w)
	}
	return c, time.Since(start)
}

func options(change func(*Options)) Options {
	o := Defaults()
	o.Clients, o.Wait, o.Hold = 4, 0, Always(100*time.Millisecond)
	o.Duration = time.Minute
	if change != nil {
		change(&o)
	}
	return o
}

func refuse(int) error { return fmt.Errorf("busy: %w", lockbench.ErrNotAcquired) }

func TestSteps(t *testing.T) {
	const acquire = "acquire key-0000 ttl 2s wait 0s"
	tests := []struct {
		name     string
		workload Program
		options  func(*Options)
		script   script
		want     []string
		took     time.Duration // virtual; negative is any
	}{
		{"mutex holds", Must("mutex"), nil, script{},
			[]string{acquire, "release"}, 100 * time.Millisecond},
		{"mutex waits", Must("mutex"), func(o *Options) { o.Wait = time.Second }, script{},
			[]string{"acquire key-0000 ttl 2s wait 1s", "release"}, 100 * time.Millisecond},
		{"mutex thinks", Must("mutex"), func(o *Options) { o.Think = Always(time.Second) }, script{answer: refuse},
			[]string{acquire}, time.Second},
		{"mutex outlives the lease really granted", Must("mutex"), func(o *Options) { o.Slow = 1 }, script{granted: 4 * time.Second},
			[]string{acquire, "release"}, 5 * time.Second},
		{"slow-step outlives its lease", Must("slow-step"), nil, script{},
			[]string{acquire, "release"}, 2500 * time.Millisecond},
		{"oversell sells", Must("oversell"), nil, script{value: 7},
			[]string{acquire, "read", "write 6", "release"}, 100 * time.Millisecond},
		{"oversell stops at none", Must("oversell"), nil, script{value: 0},
			[]string{acquire, "read", "release"}, 0},
		{"oversell releases after a failed read", Must("oversell"), nil, script{value: 7, storing: errLost},
			[]string{acquire, "read", "release"}, errorPause},
		{"redeem above the threshold", Must("redeem"), nil, script{value: 11},
			[]string{acquire, "read", "write 1", "release"}, 100 * time.Millisecond},
		{"redeem at the threshold earns", Must("redeem"), nil, script{value: 10},
			[]string{acquire, "read", "write 110", "release"}, 100 * time.Millisecond},
		{"reentrant releases the inner levels early", Must("reentrant"), func(o *Options) { o.Depth, o.NestedTTL = 3, time.Second }, script{},
			[]string{acquire, "acquire key-0000 ttl 1s wait 0s", "acquire key-0000 ttl 1s wait 0s", "release", "release", "release"}, 100 * time.Millisecond},
		{"release-twice", Must("release-twice"), nil, script{},
			[]string{acquire, "release", "release"}, 100 * time.Millisecond},
		{"extend in time and too late", Must("extend"), nil, script{},
			[]string{acquire, "extend 2s", "extend 2s", "release"}, 5 * time.Second},
		{"extend refused comes back after the lease", Must("extend"), nil, script{answer: refuse},
			[]string{acquire}, -1},
		{"release-delay", Must("release-delay"), nil, script{},
			[]string{acquire, "release after 1s"}, 0},
		{"two-keys", Must("two-keys"), func(o *Options) { o.KeyChoice = Pairs }, script{},
			[]string{acquire, "acquire key-0001 ttl 2s wait 0s", "release", "release"}, 0},
		{"two-keys and the second is refused", Must("two-keys"), func(o *Options) { o.KeyChoice = Pairs }, script{answer: refuseFrom(1)},
			[]string{acquire, "acquire key-0001 ttl 2s wait 0s", "release"}, -1},
		{"reentrant refused at once", Must("reentrant"), nil, script{answer: refuse},
			[]string{acquire}, -1},
		{"reentrant when nesting is refused", Must("reentrant"), nil, script{answer: refuseFrom(1)},
			[]string{acquire, acquire, "release"}, 100 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, took := step(t, tt.workload, options(tt.options), &tt.script, 1)
				if diff := cmp.Diff(tt.script.calls, tt.want); diff != "" {
					t.Errorf("calls (-got +want):\n%s", diff)
				}
				if tt.took >= 0 && took != tt.took {
					t.Errorf("took %v of virtual time, want %v", took, tt.took)
				}
			})
		})
	}
}

// TestSlowHoldOutlivesTolerance: a slow hold outlives the time that the design
// keeps a key after a lease.
func TestSlowHoldOutlivesTolerance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := Must("slow-step").Options(options(nil))
		if err != nil {
			t.Fatal(err)
		}
		run := NewRun(o, make(chan struct{}))
		run.Tolerance = time.Second
		start := time.Now()
		s := &script{}
		if err := run.Client(0, s, s).Iterate(t.Context(), Must("slow-step")); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(start), 3500*time.Millisecond; got != want {
			t.Errorf("slow hold took %v of virtual time, want %v", got, want)
		}
	})
}

func refuseFrom(first int) func(int) error {
	return func(n int) error {
		if n >= first {
			return refuse(n)
		}
		return nil
	}
}

func TestCron(t *testing.T) {
	const acquire = "acquire key-0000 ttl 2s wait 0s"
	long := func(o *Options) { o.Hold, o.Period = Always(3*time.Second), 10*time.Second }
	tests := []struct {
		name    string
		options func(*Options)
		script  script
		bare    bool
		want    []string
		done    int64
	}{
		{"short job extends once", nil, script{}, false,
			[]string{acquire, "extend 2s", "release after 100ms"}, 1},
		{"long job extends in time", long, script{}, false,
			[]string{acquire, "extend 2s", "extend 2s", "release after 2s"}, 1},
		{"job stops when the lock is lost", long, script{extend: lockbench.ErrNotHeld, release: lockbench.ErrNotHeld}, false,
			[]string{acquire, "extend 2s", "release after 2s"}, 0},
		{"slow job forgets to extend", func(o *Options) { o.Slow = 1 }, script{}, false,
			[]string{acquire, "release after 100ms"}, 1},
		{"without abilities", long, script{}, true,
			[]string{acquire, "release"}, 1},
		{"others skip, without waiting", func(o *Options) { o.Wait = time.Second }, script{answer: refuse}, false,
			[]string{acquire}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var locker lockbench.Locker = &tt.script
				if tt.bare {
					locker = bare{&tt.script}
				}
				c, _ := stepWith(t, Must("cron"), options(tt.options), locker, &tt.script, 1)
				if diff := cmp.Diff(tt.script.calls, tt.want); diff != "" {
					t.Errorf("calls (-got +want):\n%s", diff)
				}
				if got := c.Counts.Done.Load(); got != tt.done {
					t.Errorf("jobs done = %d, want %d", got, tt.done)
				}
			})
		})
	}
}

func TestCronTriesOncePerPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: refuse}
		c, took := step(t, Must("cron"), options(nil), s, 5)
		// The fifth try comes at some time of the fifth period of 500 ms.
		if took < 2*time.Second || took > 2500*time.Millisecond+maxBackoff {
			t.Errorf("five tries took %v of virtual time, want 2s to 2.51s", took)
		}
		if got := c.Counts.Skipped.Load(); got != 5 {
			t.Errorf("skipped = %d, want 5", got)
		}
	})
}

// TestLateness: most servers turn to their job in the first tenth of its period,
// the others at any time of it.
func TestLateness(t *testing.T) {
	for _, tt := range []struct{ punctuality, want float64 }{
		{0, 0}, {0.3, 0.05}, {0.6, 0}, {0.8, 0.5}, {1, 1},
	} {
		if got := lateness(tt.punctuality); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("lateness(%v) = %v, want %v", tt.punctuality, got, tt.want)
		}
	}
}

func TestCounts(t *testing.T) {
	tests := []struct {
		name                          string
		script                        script
		grants, refused, lost, failed int64
		wantErr                       bool
	}{
		{"granted", script{value: 1}, 1, 0, 0, 0, false},
		{"refused", script{answer: refuse}, 0, 1, 0, 0, false},
		{"lost", script{value: 1, release: lockbench.ErrNotHeld}, 1, 0, 1, 0, false},
		{"late", script{value: 1, release: lockbench.ErrLate}, 1, 0, 0, 0, false},
		{"acquire unanswered", script{answer: func(int) error { return errLost }}, 0, 0, 0, 1, true},
		{"release unanswered", script{value: 1, release: errLost}, 1, 0, 0, 1, true},
		{"store unanswered", script{value: 1, storing: errLost}, 1, 0, 0, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, err := Must("oversell").Options(options(nil))
				if err != nil {
					t.Fatal(err)
				}
				c := NewRun(o, nil).Client(0, &tt.script, &tt.script)
				err = c.Iterate(t.Context(), Must("oversell"))
				if got := errors.Is(err, errLost); got != tt.wantErr {
					t.Errorf("Iterate = %v, want an error: %v", err, tt.wantErr)
				}
				n := &c.Counts
				got := []int64{n.Grants.Load(), n.Refused.Load(), n.Lost.Load(), n.Failed.Load()}
				if diff := cmp.Diff(got, []int64{tt.grants, tt.refused, tt.lost, tt.failed}); diff != "" {
					t.Errorf("grants, refused, lost, failed (-got +want):\n%s", diff)
				}
			})
		})
	}
}

// TestEndOfRunCutsHolds: the holder releases at once, and sells nothing.
func TestEndOfRunCutsHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := Must("oversell").Options(options(func(o *Options) { o.Hold = Always(10 * time.Second) }))
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(over) })
		s := &script{value: 5}
		start := time.Now()
		if err := NewRun(o, over).Client(0, s, s).Iterate(t.Context(), Must("oversell")); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("iteration took %v of virtual time, want 1s", got)
		}
		if got := s.calls[len(s.calls)-1]; got != "release" || s.value != 5 {
			t.Errorf("last call %q with %d units left, want release with 5", got, s.value)
		}
	})
}

// TestWaitingContext: only acquires that may wait run under the context that the
// driver cancels first.
func TestWaitingContext(t *testing.T) {
	type mark struct{}
	for _, wait := range []time.Duration{0, time.Second} {
		t.Run(wait.String(), func(t *testing.T) {
			o, err := Must("mutex").Options(options(func(o *Options) { o.Wait, o.Hold = wait, Always(0) }))
			if err != nil {
				t.Fatal(err)
			}
			run := NewRun(o, nil)
			run.Waiting = context.WithValue(t.Context(), mark{}, true)
			var waited bool
			l := lockerFunc(func(ctx context.Context) { waited = ctx.Value(mark{}) != nil })
			_ = run.Client(0, l, nil).Iterate(t.Context(), Must("mutex"))
			if want := wait > 0; waited != want {
				t.Errorf("acquire under the waiting context = %v, want %v", waited, want)
			}
		})
	}
}

type lockerFunc func(context.Context)

func (f lockerFunc) Acquire(ctx context.Context, _ string, _ lockbench.Options) (lockbench.Lease, error) {
	f(ctx)
	return nil, lockbench.ErrNotAcquired
}
