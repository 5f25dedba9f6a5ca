package backend

import (
	"context"
	"errors"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// A Group has the services of a run, at least one, which are independent of each other. Designs for
// one service lock on the first, which also has the guarded records; designs for several use as
// many as they need.
type Group []design.Service

// First returns the service with the guarded records, on which designs for one service
// lock.
func (g Group) First() design.Service { return g[0] }

// For returns the first n of the services, all if there are fewer.
func (g Group) For(n int) Group { return g[:min(n, len(g))] }

// Close closes all, and joins their errors.
func (g Group) Close() error {
	var errs []error
	for _, s := range g {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Check checks every service, and returns the first error.
func (g Group) Check(ctx context.Context, needs []string) error {
	for _, s := range g {
		if err := s.Check(ctx, needs); err != nil {
			return err
		}
	}
	return nil
}

// Sweep sweeps every service: it goes on after an error, and returns the number of names
// on all.
func (g Group) Sweep(ctx context.Context, prefix string) (int, error) {
	var errs []error
	all := 0
	for _, s := range g {
		n, err := s.Sweep(ctx, prefix)
		all, errs = all+n, append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Reach returns the means to connect to each service, in their order.
func (g Group) Reach() []any {
	var all []any
	for _, s := range g {
		all = append(all, s.Reach())
	}
	return all
}

// Usage returns the usage of every service, in their order. The error is [ErrUnmetered] if
// one of them does not count it.
func (g Group) Usage(ctx context.Context) ([]design.Usage, error) {
	all := make([]design.Usage, len(g))
	for i, s := range g {
		metered, ok := s.(design.Metered)
		if !ok {
			return nil, ErrUnmetered
		}
		var err error
		if all[i], err = metered.Usage(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ErrUnmetered says that a service does not count its usage.
var ErrUnmetered = errors.New("the service does not know what it has used")

// Info describes the group for the header of a history: kind and version of the first
// service, the addresses of all, and their number.
func (g Group) Info() runinfo.Server {
	first := g.First()
	info := runinfo.Server{Kind: first.Kind(), Version: first.Version(), Address: first.Address()}
	if len(g) == 1 {
		return info
	}
	var addresses []string
	for _, s := range g {
		addresses = append(addresses, s.Address())
	}
	info.Address, info.Count = strings.Join(addresses, " "), len(g)
	return info
}

// Err returns the reason why one of the services has ended by itself, nil while none has.
func (g Group) Err() error {
	for _, s := range g {
		if mortal, ok := s.(design.Mortal); ok && mortal.Err() != nil {
			return mortal.Err()
		}
	}
	return nil
}

// Done returns a channel that is closed when s has ended by itself; it is never closed for
// a service that cannot tell.
func Done(s design.Service) <-chan struct{} {
	if mortal, ok := s.(design.Mortal); ok {
		return mortal.Done()
	}
	return nil
}

// RecordsOf opens the guarded records of a run on s, or in memory if s keeps none.
func RecordsOf(s design.Service, prefix string) design.Records {
	if keeper, ok := s.(design.Keeper); ok {
		return keeper.Records(prefix)
	}
	return NewMemory()
}
