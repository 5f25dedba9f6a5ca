package catalog_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/workloads"
)

// TestEveryFigureOfBusinessIsAMetric checks that thresholds can be set on every figure that
// workloads count.
func TestEveryFigureOfBusinessIsAMetric(t *testing.T) {
	counted := 0
	for _, w := range workloads.By(workloads.Live) {
		if w.Business == nil {
			continue
		}
		counted++
		for name := range w.Business(workloads.Books{}) {
			if m, err := thresholds.Find(name); err != nil || m.Unit != thresholds.Count {
				t.Errorf("workload %s: %s: %v", w.Name, name, err)
			}
		}
	}
	if counted != 3 {
		t.Errorf("%d workloads count their business, want oversell, redeem and cron", counted)
	}
}
