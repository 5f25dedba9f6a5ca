package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// services has the services of the session's designs, by the name of the backend.
type services map[string]backend.Group

// openServices opens the services of the subjects: the services at addresses, or new services if
// there is no address for a backend. It ignores addresses of Redis servers that no subject locks
// on; any other unused address is an error. Services opened before an error are returned with it.
func openServices(ctx context.Context, subjects []Subject, addresses []string) (services, error) {
	all := services{}
	for i := range subjects {
		b := servers.BackendOf(&subjects[i].Design)
		var its []string
		for _, address := range addresses {
			if b.Serves(address) {
				its = append(its, address)
			}
		}
		if err := all.add(ctx, b, its, needed(subjects, b)); err != nil {
			return all, err
		}
	}
	for _, address := range addresses {
		serves := func(s Subject) bool { return servers.BackendOf(&s.Design).Serves(address) }
		if !(servers.Redis{}).Serves(address) && !slices.ContainsFunc(subjects, serves) {
			scheme, _, _ := strings.Cut(address, "://")
			return all, fmt.Errorf("server %s://...: no design of this run locks on such a one; hint: its scheme says what it is, as in redis://localhost:6379", scheme)
		}
	}
	return all, nil
}

// add opens services of a backend, if there are none yet.
func (s services) add(ctx context.Context, b design.Backend, addresses []string, n int) error {
	if s[b.Name()] != nil {
		return nil
	}
	opened, err := b.Open(ctx, addresses, n)
	if len(opened) > 0 {
		s[b.Name()] = opened
	}
	return err
}

// needed returns the largest number of services of a backend that a subject locks on.
func needed(subjects []Subject, b design.Backend) int {
	most := 1
	for i := range subjects {
		if d := &subjects[i].Design; servers.BackendOf(d).Name() == b.Name() {
			most = max(most, d.ServerCount())
		}
	}
	return most
}

// of returns the services that a design locks on. The group may have more of them than the design
// needs.
func (s services) of(d *design.Design) backend.Group { return s[servers.BackendOf(d).Name()] }

// err returns an error if a service ended by itself.
func (s services) err() error {
	for _, g := range s {
		if err := g.Err(); err != nil {
			return err
		}
	}
	return nil
}

// openRecords opens a server for guarded records if faults act on the servers of the locks: one more
// of the first kind that keeps records.
func (s *session) openRecords(ctx context.Context) error {
	for i := range s.plan.Subjects {
		b := servers.BackendOf(&s.plan.Subjects[i].Design)
		if _, keeps := b.Offers().(design.Keeper); !keeps || !fault.AffectStore(s.faults) {
			continue
		}
		beside, err := b.Open(ctx, nil, 1)
		if err == nil {
			s.records = beside[0]
		}
		return err
	}
	return nil
}

// recordsBeside returns the service with the records that locks on g guard; nil if g itself has
// them.
func (s *session) recordsBeside(g backend.Group) design.Service {
	if _, keeps := g.First().(design.Keeper); !keeps {
		return nil
	}
	return s.records
}

func (s *session) closeServices() (err error) {
	for _, g := range s.services {
		err = errors.Join(err, g.Close())
	}
	if s.records != nil {
		err = errors.Join(err, s.records.Close())
	}
	return err
}
