package design

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// heard records the calls that it gets.
type heard struct{ calls *[]string }

func (h heard) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	*h.calls = append(*h.calls, "acquire")
	return h, nil
}

func (h heard) Release(context.Context) error {
	*h.calls = append(*h.calls, "release")
	return nil
}

func (h heard) Extend(context.Context, time.Duration) error {
	*h.calls = append(*h.calls, "extend")
	return nil
}

func TestAround(t *testing.T) {
	var calls []string
	locker := Around(heard{&calls}, func(ctx context.Context) (context.Context, func()) {
		calls = append(calls, "begin")
		return ctx, func() { calls = append(calls, "end") }
	})
	lease, err := locker.Acquire(t.Context(), "k", lockbench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	extender, extends := lockbench.Ability[lockbench.Extender](lease)
	if _, fences := lockbench.Ability[lockbench.Fencer](lease); !extends || fences {
		t.Fatalf("extends %t, fences %t; want the abilities of the inner lease", extends, fences)
	}
	if err := extender.Extend(t.Context(), time.Second); err != nil {
		t.Error(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{"begin", "acquire", "end", "begin", "extend", "end", "begin", "release", "end"}
	if diff := cmp.Diff(calls, want); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
}
