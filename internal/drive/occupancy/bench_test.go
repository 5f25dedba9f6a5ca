package occupancy

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
)

// BenchmarkMonitor is the cost of watching one pair of acquire and release.
func BenchmarkMonitor(b *testing.B) {
	w := New([]string{"key"}, false)
	for _, bench := range []struct {
		name   string
		locker lockbench.Locker
	}{
		{"bare", always{}},
		{"watched", w.Locker(always{})},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			ctx := context.Background()
			for b.Loop() {
				lease, _ := bench.locker.Acquire(ctx, "key", lockbench.Options{TTL: time.Second})
				_ = lease.Release(ctx)
			}
		})
	}
}

// always grants the same lease, which states its validity, and costs nothing.
type always struct{}

var granted = &tellingLease{from: time.Now(), granted: time.Hour}

func (always) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return granted, nil
}
