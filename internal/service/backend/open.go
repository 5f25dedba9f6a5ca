package backend

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
)

// Open opens services for [design.Backend.Open]: those at the addresses, or n private ones if there are
// none. Services opened before an error are returned with it.
func Open[S design.Service](ctx context.Context, addresses []string, n int, connect func(ctx context.Context, address string) (S, error), start func(context.Context) (S, error)) (all []design.Service, err error) {
	if len(addresses) > 0 && len(addresses) < n {
		return nil, fmt.Errorf("a design locks on %d servers, %d given; hint: give --server %d times, or not at all for private ones", n, len(addresses), n)
	}
	for i := range max(n, len(addresses)) {
		var s S
		if len(addresses) > 0 {
			s, err = connect(ctx, addresses[i])
		} else {
			s, err = start(ctx)
		}
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}
