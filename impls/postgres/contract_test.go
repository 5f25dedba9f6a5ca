package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	family "github.com/lockbench/lockbench/impls/postgres"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// A scene is a private server with two processes of a design.
type scene struct {
	design    design.Design
	server    *postgres.Server
	processes [2]design.Process
}

func (s *scene) owner(process int) lockbench.Locker { return s.processes[process].Locker(design.Blind) }

// open opens two processes of a design, which end with t.
func open(t *testing.T, d design.Design, server *postgres.Server, prefix string) *scene {
	s := &scene{design: d, server: server}
	for i := range s.processes {
		p, err := d.Open(design.Environment{Services: []any{server.Reach()}, Prefix: prefix + ":"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() }) // it may be closed
		s.processes[i] = p
	}
	return s
}

// each runs test with each design that is a lock, on one server.
func each(t *testing.T, test func(*testing.T, *scene)) {
	server, err := postgres.Start(t.Context())
	servertest.Need(t, err)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, d := range family.Designs() {
		if d.Backend != (postgres.Backend{}) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			test(t, open(t, d, server, d.Name))
		})
	}
}

func acquire(t *testing.T, l lockbench.Locker) (lockbench.Lease, error) {
	t.Helper()
	return l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute})
}

func TestOneOwnerAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.owner(0)
		held, err := acquire(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if _, granted := held.(lockbench.Validator).Valid(); (granted == 0) != s.design.Leaseless {
			t.Errorf("a lease of %v", granted)
		}
		for _, l := range []lockbench.Locker{a, s.owner(0), s.owner(1)} {
			if _, err := acquire(t, l); !errors.Is(err, lockbench.ErrNotAcquired) {
				t.Errorf("a second acquire: %v, want that it is refused", err)
			}
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := held.Release(t.Context()); !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("released twice: %v", err)
		}
		again, err := acquire(t, s.owner(1))
		if err != nil {
			t.Fatalf("after the release: %v", err)
		}
		if fencer, is := again.(lockbench.Fencer); is && fencer.Fence() <= held.(lockbench.Fencer).Fence() {
			t.Errorf("fence %d after %d", fencer.Fence(), held.(lockbench.Fencer).Fence())
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestProcessEnds checks that the end of a process frees what its sessions hold, and no row.
func TestProcessEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		held, err := acquire(t, s.owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.processes[0].Close(); err != nil {
			t.Fatal(err)
		}
		opt := lockbench.Options{TTL: time.Minute}
		if s.design.Leaseless {
			opt.Wait = time.Minute // the server learns of the end
		}
		_, err = s.owner(1).Acquire(t.Context(), "key", opt)
		if free := err == nil; free != s.design.Leaseless {
			t.Errorf("after the end: %v", err)
		}
		if err := held.Release(t.Context()); err == nil {
			t.Error("released after the end")
		}
	})
}

func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, s *scene) { designtest.GivenUp(t, s.design, s.server.Reach) })
}

// TestSessionsThatTheServerEnds shows the documented faults: the key is free while its owner works on,
// who is told at the release.
func TestSessionsThatTheServerEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if !s.design.Leaseless {
			t.Skip("it holds no session")
		}
		admin, err := pgx.Connect(t.Context(), s.server.DSN())
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close(context.Background())
		ends := "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'"
		if s.design.Name == "postgres/transaction" {
			ends = ""
			if _, err := admin.Exec(t.Context(), "alter role lockbench set idle_in_transaction_session_timeout = '50ms'"); err != nil {
				t.Fatal(err)
			}
		}
		held, err := acquire(t, s.owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admin.Exec(t.Context(), ends); err != nil {
			t.Fatal(err)
		}
		other, err := s.owner(1).Acquire(t.Context(), "key", lockbench.Options{Wait: time.Minute})
		if err != nil {
			t.Fatalf("the key is not free: %v", err)
		}
		if err := held.Release(t.Context()); !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("release of a lost lock: %v", err)
		}
		_ = other.Release(t.Context()) // its transaction may be over, too
	})
}

// unheld is a lock whose sessions let go at once what they are granted.
func unheld(d design.Design) design.Design {
	d.Name = "broken/" + d.Name
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		if err != nil {
			return nil, err
		}
		return design.NewProcess(func(o design.Observer) lockbench.Locker { return letsGo{p.Locker(o)} }, p.Close), nil
	}
	return d
}

type letsGo struct{ lockbench.Locker }

func (l letsGo) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	return releasedLease{lease}, lease.Release(ctx)
}

type releasedLease struct{ lockbench.Lease }

func (releasedLease) Release(context.Context) error { return nil }

func (l releasedLease) Valid() (time.Time, time.Duration) {
	return l.Lease.(lockbench.Validator).Valid()
}

// TestRuns checks that runs find nothing wrong with the designs, and find out a broken one and the one
// behind a pooler, which claims nothing.
func TestRuns(t *testing.T) {
	servertest.Need(t, postgres.Backend{Pooled: true}.Missing())
	session := family.Designs()[0]
	for _, d := range append(family.Designs(), unheld(session)) {
		t.Run(d.Name, func(t *testing.T) {
			o := workloads.Defaults()
			o.Clients, o.Keys, o.TTL, o.Wait, o.Stallers = 8, 2, 500*time.Millisecond, 20*time.Millisecond, 0
			o.Hold, o.Warmup, o.Seed, o.Operations = workloads.Always(time.Millisecond), 0, 1, 2000
			p := runner.Plan{
				Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: o, History: t.TempDir(),
				Faults: []string{"cut,p=0.02", "lost-reply,p=0.02", "cancel,p=0.02", "crash,p=0.01"},
			}
			r, err := runner.Run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			j := r.Runs[0]
			if j.Err != nil || j.Verdicts.Grants == 0 || len(j.Verdicts.Defects) > 0 {
				t.Fatalf("error %v, %d grants, defects %v", j.Err, j.Verdicts.Grants, j.Verdicts.Defects)
			}
			broken := false
			for _, f := range j.Verdicts.Findings {
				broken = broken || f.Cell == lockbench.Exclusion.At(0) && f.Verdict == checker.Broken
				if f.Against > 0 && d.Name != "broken/"+session.Name {
					t.Errorf("%s: %s", f.Cell, f.Counterexample.Sentence)
				}
			}
			if want := d.Name == "broken/"+session.Name || d.Backend != (postgres.Backend{}); broken != want {
				t.Errorf("exclusion is broken: %t, want %t", broken, want)
			}
		})
	}
}
