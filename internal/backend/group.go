package backend

import (
	"context"
	"errors"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// A Group is the services of a run, which know nothing of each other. Designs for one lock
// on the first, where the guarded records are, too; those for several use as many as they
// need. It has one service at least.
type Group []design.Service

// First is the service that has the guarded records, and on which designs for one lock.
func (g Group) First() design.Service { return g[0] }

// For returns the first n of the services, all when there are not so many.
func (g Group) For(n int) Group { return g[:min(n, len(g))] }

// Close closes all, and joins their errors.
func (g Group) Close() error {
	var errs []error
	for _, s := range g {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Check is that of every service.
func (g Group) Check(ctx context.Context, needs []string) error {
	for _, s := range g {
		if err := s.Check(ctx, needs); err != nil {
			return err
		}
	}
	return nil
}

// Sweep is that of every service: it goes on after an error, and returns how many names
// there were on all.
func (g Group) Sweep(ctx context.Context, prefix string) (int, error) {
	var errs []error
	all := 0
	for _, s := range g {
		n, err := s.Sweep(ctx, prefix)
		all, errs = all+n, append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Reach is how a process reaches every service.
func (g Group) Reach() []any {
	var all []any
	for _, s := range g {
		all = append(all, s.Reach())
	}
	return all
}

// Usage is that of every service, in their order. The error is [ErrUnmetered] where one of
// them does not know.
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

// ErrUnmetered says that a service does not know what it has used.
var ErrUnmetered = errors.New("the service does not know what it has used")

// Info describes the group for the header of a history: kind and version of the first,
// the addresses of all, and how many they are.
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

// Err is why one of the services has ended by itself, nil while none has.
func (g Group) Err() error {
	for _, s := range g {
		if mortal, ok := s.(design.Mortal); ok && mortal.Err() != nil {
			return mortal.Err()
		}
	}
	return nil
}

// Done is closed when s has ended by itself; never for one that does not.
func Done(s design.Service) <-chan struct{} {
	if mortal, ok := s.(design.Mortal); ok {
		return mortal.Done()
	}
	return nil
}

// RecordsOf opens the guarded records of a run on s, or in memory where s keeps none.
func RecordsOf(s design.Service, prefix string) design.Records {
	if keeper, ok := s.(design.Keeper); ok {
		return keeper.Records(prefix)
	}
	return NewMemory()
}
