package backend

import (
	"fmt"

	"github.com/lockbench/lockbench/impls/design"
)

// Open opens services for [design.Backend.Open]: those at the addresses, or n private ones if there are
// none. Services opened before an error are returned with it.
func Open(addresses []string, n int, connect func(address string) (design.Service, error), start func() (design.Service, error)) (all []design.Service, err error) {
	if len(addresses) > 0 && len(addresses) < n {
		return nil, fmt.Errorf("a design locks on %d servers, %d given; hint: give --server %d times, or not at all for private ones", n, len(addresses), n)
	}
	for i := range max(n, len(addresses)) {
		var s design.Service
		if len(addresses) > 0 {
			s, err = connect(addresses[i])
		} else {
			s, err = start()
		}
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}
