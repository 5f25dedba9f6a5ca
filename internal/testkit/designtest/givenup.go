package designtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// GivenUp checks that an acquire ends if its caller has given up, and that it leaves nothing behind if
// the design has no lease. reach returns the means to connect to the service of the design.
func GivenUp(t *testing.T, d design.Design, reach func() any) {
	t.Helper()
	acquire := func(by design.Interceptor) error {
		p, err := d.Open(design.Environment{Services: []any{reach()}, Prefix: "test:", Interceptor: by})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		_, err = p.Locker(design.Blind).Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute, Wait: time.Minute})
		return err
	}
	if err := acquire(deaf{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was given up", err)
	}
	if !d.Leaseless {
		return
	}
	if err := acquire(nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// deaf sends requests, and keeps the answers.
type deaf struct{}

func (deaf) Pass(ctx context.Context, send func(context.Context) error) error {
	_ = send(ctx)
	return context.Canceled
}
