package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/backend"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/servers"
)

// services are what the designs of a session lock on, by the name of the backend.
type services map[string]backend.Group

// backendOf is that of a design.
func backendOf(d *design.Design) design.Backend {
	if d.Backend == nil {
		return servers.Redis{}
	}
	return d.Backend
}

// openServices opens what the subjects lock on: at addresses, each of which has to be of some
// backend among theirs, or else services of our own. What it has opened it returns also with
// an error.
func openServices(ctx context.Context, subjects []Subject, addresses []string) (services, error) {
	all, served := services{}, 0
	for i := range subjects {
		b := backendOf(&subjects[i].Design)
		if all[b.Name()] != nil {
			continue
		}
		its := slices.DeleteFunc(slices.Clone(addresses), func(address string) bool { return !b.Serves(address) })
		opened, err := b.Open(ctx, its, needed(subjects, b))
		if len(opened) > 0 {
			all[b.Name()] = opened
		}
		if err != nil {
			return all, err
		}
		served += len(its)
	}
	if served < len(addresses) {
		return all, fmt.Errorf("servers %v: no design of this run locks on one of them; hint: its scheme says of what kind a server is, as in redis://localhost:6379", addresses)
	}
	return all, nil
}

// needed is the most services of a backend that a design of the plan locks on.
func needed(subjects []Subject, b design.Backend) int {
	most := 1
	for i := range subjects {
		if d := &subjects[i].Design; backendOf(d).Name() == b.Name() {
			most = max(most, d.ServerCount())
		}
	}
	return most
}

// of are the services that a design locks on, and perhaps more of the kind.
func (s services) of(d *design.Design) backend.Group { return s[backendOf(d).Name()] }

// err is why a service has ended by itself.
func (s services) err() error {
	for _, g := range s {
		if err := g.Err(); err != nil {
			return err
		}
	}
	return nil
}

// openRecords checks that the faults can be done, and opens a server of its own for what
// they should not affect.
func (s *session) openRecords(ctx context.Context) (err error) {
	affected := false
	for _, g := range s.services {
		if err := faults.Check(s.faults, servers.All(g)); err != nil {
			return err
		}
		_, keeps := g.First().(design.Keeper)
		affected = affected || keeps && fault.AffectStore(s.faults)
	}
	if !affected {
		return nil
	}
	beside, err := servers.StartPrivate(ctx)
	if err == nil {
		s.records = beside
	}
	return err
}

// recordsBeside is where the records are kept that locks on g guard; nil is on g.
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
