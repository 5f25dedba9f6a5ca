package explore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
)

// A misfit is a lock with an Acquire that does what no lock should.
type misfit func(ctx context.Context) (lockbench.Lease, error)

func (m misfit) Acquire(ctx context.Context, _ string, _ lockbench.Options) (lockbench.Lease, error) {
	return m(ctx)
}

func (m misfit) Locker(design.Observer) lockbench.Locker { return m }
func (m misfit) Close() error                            { return nil }

func (m misfit) design() design.Design {
	return design.Design{Name: "misfit", Open: func(design.Environment) (design.Process, error) { return m, nil }}
}

// TestMisfits explores locks that panic and that do not return: the result
// reports it, and the exploration ends.
func TestMisfits(t *testing.T) {
	for _, c := range []struct {
		name string
		m    misfit
		want string // of the defects
		ends string // why exploring stopped
	}{
		{"panics", func(context.Context) (lockbench.Lease, error) { panic("so there") }, "c1: the lock panicked: so there", ""},
		{"blocks for ever", func(context.Context) (lockbench.Lease, error) { select {} }, "c1: the lock does not return from a call", "leak"},
		{"sleeps for ever", func(context.Context) (lockbench.Lease, error) {
			for {
				time.Sleep(time.Second)
			}
		}, "c1: the lock does not return from a call", "leak"},
		{"waits for its context", func(ctx context.Context) (lockbench.Lease, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "", ""},
		{"gives nothing", func(context.Context) (lockbench.Lease, error) { return nil, nil }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := explore.Run(t.Context(), bubble.New(t), explore.Config{
				Design: c.m.design(), Strategy: explore.Exhaustive, Schedules: 100_000, Rounds: 1, Faults: -1, Moves: -1,
			}, silent)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(r.Defects, "\n"); !strings.Contains(all, c.want) || c.want == "" && all != "" {
				t.Errorf("defects: got %q, want %q", all, c.want)
			}
			if r.Coverage.Stopped != c.ends {
				t.Errorf("stopped by %q, want %q", r.Coverage.Stopped, c.ends)
			}
		})
	}
}
