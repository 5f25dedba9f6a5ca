package load

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// usageTime bounds how long servers are asked what they have used.
const usageTime = time.Second

// usage is what the servers of the design have used so far; nil where that is not known.
func (r *run) usage(ctx context.Context) []design.Usage {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTime)
	defer cancel()
	all, err := r.cfg.services().Usage(ctx)
	if err != nil {
		return nil
	}
	return all
}

// spent is the processor time that servers took between two looks, in ns; nil where one
// of them is not known, or another server has taken the place of one.
func spent(before, after []design.Usage) *int64 {
	if len(before) == 0 || len(before) != len(after) {
		return nil
	}
	var sum int64
	for i := range before {
		if before[i].RunID != after[i].RunID {
			return nil
		}
		sum += int64(after[i].CPU - before[i].CPU)
	}
	return &sum
}
