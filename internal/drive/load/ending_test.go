package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// deaf is a lock that comes back when its context ends, or when released.
type deaf struct {
	heeds   bool
	release chan struct{}
}

func (d deaf) Acquire(ctx context.Context, _ string, _ lockbench.Options) (lockbench.Lease, error) {
	if !d.heeds {
		ctx = context.Background()
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-d.release:
		return nil, errors.New("released")
	}
}

// TestWindDown: how long, in virtual time, a run outlasts its second for a lock
// that does not answer.
func TestWindDown(t *testing.T) {
	tests := []struct {
		name  string
		heeds bool
		wait  time.Duration
		took  time.Duration
		stuck bool
	}{
		{"waiting acquires get their wait, up to a bound", true, time.Hour, time.Second + longestWait + waitGrace, false},
		{"others later", true, 0, time.Second + operationGrace, false},
		{"a lock that does not come back is given up", false, 0, time.Second + operationGrace + 2*closeGrace, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := tokenDesign()
				locker := deaf{tt.heeds, make(chan struct{})}
				d.Open = func(design.Environment) (design.Process, error) { return fixedProcess{locker}, nil }
				server := embedded(t)
				start := time.Now()
				s, err := Run(t.Context(), Config{
					Design: d, Services: backend.Group{server}, Workload: workloads.Must("mutex"), History: io.Discard,
					Options: options(func(o *workloads.Options) { o.Duration, o.Wait = time.Second, tt.wait }),
				})
				if got := time.Since(start).Round(100 * time.Millisecond); got != tt.took {
					t.Errorf("run took %v of virtual time, want %v", got, tt.took)
				}
				if got := time.Duration(s.EndNS).Round(100 * time.Millisecond); got != time.Second {
					t.Errorf("clients stopped at %v, want 1s", got)
				}
				if stuck := err != nil && strings.Contains(err.Error(), "4 clients"); stuck != tt.stuck {
					t.Errorf("Run = %v, want stuck clients: %v", err, tt.stuck)
				}
				close(locker.release)
				synctest.Wait()
			})
		})
	}
}

// TestServerFallsSilent: a server that refuses everybody for seconds ends the run.
func TestServerFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded(t)
		time.AfterFunc(time.Second, func() { _ = server.Close() })
		start := time.Now()
		var record bytes.Buffer
		s, err := Run(t.Context(), Config{
			Design: tokenDesign(), Services: backend.Group{server}, Workload: workloads.Must("oversell"), History: &record,
			Options: options(func(o *workloads.Options) { o.Duration, o.Think = time.Hour, workloads.Always(time.Millisecond) }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); s.Ended != EndedServerLost || got > 10*time.Second {
			t.Errorf("ended %q after %v of virtual time, want %q within 10s", s.Ended, got, EndedServerLost)
		}
		notes := strings.Join(s.Notes, "\n")
		for _, want := range []string{"was lost", "keys " + s.Prefix + "* may be left"} {
			if !strings.Contains(notes, want) {
				t.Errorf("notes %q do not contain %q", notes, want)
			}
		}
		if _, result, _ := judge(t, record.Bytes()); result.Find(lockbench.Exclusion.At(0)).Verdict == checker.Broken {
			t.Error("exclusion is broken on a server that was lost")
		}
		// A closed go-redis pool that could not dial ends within a second.
		time.Sleep(2 * time.Second)
	})
}

// TestLongWaitIsNotALostServer: no client is answered for a minute, but the server
// is running.
func TestLongWaitIsNotALostServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := tokenDesign()
		locker := deaf{true, make(chan struct{})}
		d.Open = func(design.Environment) (design.Process, error) { return fixedProcess{locker}, nil }
		s, err := Run(t.Context(), Config{
			Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: io.Discard,
			Options: options(func(o *workloads.Options) { o.Duration, o.Wait = time.Minute, time.Hour }),
		})
		if err != nil || s.Ended != EndedDuration {
			t.Errorf("ended %q, %v; want duration", s.Ended, err)
		}
	})
}

func TestShares(t *testing.T) {
	r := &run{}
	r.measured = &group{options: workloads.Options{Operations: 10, Clients: 4}}
	var got []int64
	for i := range 4 {
		got = append(got, r.share(&client{number: i, group: r.measured}))
	}
	if diff := cmp.Diff(got, []int64{3, 3, 2, 2}); diff != "" {
		t.Errorf("shares of 10 operations (-got +want):\n%s", diff)
	}
	r.measured.options.Operations = 0
	if got := r.share(&client{group: r.measured}); got >= 0 {
		t.Errorf("share without a limit = %d, want below 0", got)
	}
}
