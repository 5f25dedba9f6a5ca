package load

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/impls/design"
)

// usageTime bounds the request for the usage of servers.
const usageTime = time.Second

// usage returns the usage of the design's servers so far, nil if it is unknown.
func (r *run) usage(ctx context.Context) []design.Usage {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTime)
	defer cancel()
	all, err := r.cfg.services().Usage(ctx)
	if err != nil {
		return nil
	}
	return all
}

// processorTime returns the processor time, in ns, that servers used between two readings; nil if a
// reading is missing or a server was replaced meanwhile.
func processorTime(before, after []design.Usage) *int64 {
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
