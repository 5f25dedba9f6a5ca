package adapter

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// A scene is the record of a lock that renews itself and tells it, in virtual time. The owner uses it by an
// adapter, whose lines the test writes; others are told what the test says.
type scene struct {
	t       *testing.T
	program *program
	record  *history.Recorder
	owner   *history.Client
	locker  lockbench.Locker
	base    time.Time
	last    int64 // request
	others  int32
}

// play records a scene and judges it.
func play(t *testing.T, acts func(s *scene)) (found checker.Result) {
	t.Helper()
	in, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer ours.Close()
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		r, err := history.NewRecorder(&file, history.Header{Design: "told", Claims: lockbench.LeaseClaims().Renewing(), Reacquire: "refused", Renews: true})
		if err != nil {
			t.Fatal(err)
		}
		s := &scene{t: t, base: r.Base(), record: r, owner: r.Client(0, 0)}
		s.program = &program{in: ours, done: make(chan struct{}), waiting: map[int64]waiter{}, renewed: map[int64]*renewals{}}
		hello := Hello{GrainMS: 1, Renews: RenewsTold, Can: []Ability{Extend}}
		p := &process{program: s.program, set: Settings{Stamps: true}, hello: hello, clock: clock{at: s.base, within: time.Microsecond}}
		s.locker = s.owner.Locker(p.Locker(s.owner))
		s.to(time.Second)
		acts(s)
		if err := r.Close(history.Trailer{EndNS: r.Now()}); err != nil {
			t.Fatal(err)
		}
		source, err := history.NewSource(&file)
		if err != nil {
			t.Fatal(err)
		}
		if found, err = checker.Check(source); err != nil {
			t.Fatal(err)
		}
	})
	return found
}

// to passes time up to an instant of the scene.
func (s *scene) to(at time.Duration) { time.Sleep(time.Until(s.base.Add(at))) }

// answered has the next request answered in 100 ms.
func (s *scene) answered(a answer) {
	const way = 50 * time.Millisecond
	s.last++
	a.ID, a.CallNS = s.last, int64(time.Since(s.base)+way/2)
	a.ReturnNS = a.CallNS + int64(way)
	time.AfterFunc(2*way, func() { s.says(a) })
}

// says takes a line of the adapter.
func (s *scene) says(a answer) {
	if err := s.program.take(a); err != nil {
		s.t.Error(err)
	}
}

// granted grants the owner the key as hold 41, for 10 s as it asks.
func (s *scene) granted() lockbench.Lease { return s.grantedFor(0) }

// grantedFor is granted for another lease, unless that is zero.
func (s *scene) grantedFor(ttl time.Duration) lockbench.Lease {
	s.answered(answer{OK: &grant{Hold: 41, TTLMS: millis(ttl)}})
	lease, err := s.locker.Acquire(s.t.Context(), "key", lockbench.Options{TTL: 10 * time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	return lease
}

// release lets the owner release, whatever the answer.
func (s *scene) release(lease lockbench.Lease) { _ = lease.Release(s.t.Context()) }

// renewed reports a renewal that was sent at an instant of the scene, zero if that is not told.
func (s *scene) renewed(at time.Duration) { s.says(answer{Renewed: 41, AttemptNS: int64(at)}) }

// An outcome is what others are told.
type outcome struct{ err error }

func (o outcome) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return o, o.err
}

func (outcome) Release(context.Context) error { return nil }

// other lets a new client try to acquire the key.
func (s *scene) other(err error) {
	s.others++
	c := s.record.Client(s.others, s.others)
	lease, err := c.Locker(outcome{err}).Acquire(s.t.Context(), "key", lockbench.Options{TTL: 10 * time.Second})
	if err == nil {
		_ = lease.Release(s.t.Context())
	}
}

// TestRenewalsAreJudged: a renewal that is reported prolongs the lease from when it was sent. One that may have
// been under way prolongs the time for which others may be refused, and nothing else.
func TestRenewalsAreJudged(t *testing.T) {
	refused := lockbench.ErrNotAcquired
	at := func(s int) time.Duration { return time.Duration(s) * time.Second }
	twoAtOnce := []string{"exclusion", "lease"}
	for _, tt := range []struct {
		name    string
		acts    func(s *scene)
		unknown int64 // operations
		broken  []string
	}{
		{"released while it holds", func(s *scene) {
			lease := s.granted()
			s.to(at(9))
			s.renewed(at(8))
			s.to(at(17))
			s.renewed(at(16))
			s.to(at(25))
			s.other(refused)
			s.answered(answer{OK: &grant{}})
			s.release(lease)
			s.other(nil)
		}, 0, nil},
		{"granted to another within the lease that was told", func(s *scene) {
			s.granted()
			s.to(at(9))
			s.renewed(at(8))
			s.to(at(17))
			s.other(nil)
		}, 1, twoAtOnce},
		{"granted to another after it", func(s *scene) {
			lease := s.granted()
			s.to(at(9))
			s.renewed(at(8))
			s.to(at(18))
			s.answered(answer{Error: "not-held"})
			s.other(nil)
			s.release(lease)
		}, 1, []string{"exclusion@outlived"}},
		{"told together with the grant", func(s *scene) {
			time.AfterFunc(100*time.Millisecond, func() { s.renewed(time.Since(s.base)) })
			s.granted()
			s.to(at(11))
			s.other(nil)
		}, 1, twoAtOnce},
		{"told without its time", func(s *scene) {
			s.granted()
			s.to(at(9))
			s.renewed(0)
			s.to(at(17))
			s.other(refused)
			s.other(nil)
		}, 2, nil},
		{"told to have failed, as far as is known", func(s *scene) {
			s.granted()
			s.to(at(9))
			s.says(answer{Renewed: 41, AttemptNS: int64(at(8)), Error: "unknown"})
			s.to(at(17))
			s.other(nil)
		}, 2, nil},
		{"told with a shorter lease", func(s *scene) {
			s.granted()
			s.to(at(9))
			s.says(answer{Renewed: 41, AttemptNS: int64(at(8)), TTLMS: 5000})
			s.to(at(14))
			s.other(nil)
		}, 1, nil},
		{"told of a lease that is longer than was asked for", func(s *scene) {
			s.grantedFor(20 * time.Second)
			s.to(at(9))
			s.renewed(at(8))
			s.to(at(25))
			s.other(nil)
		}, 1, twoAtOnce},
		{"refused though no renewal was told", func(s *scene) {
			s.granted()
			s.to(at(60))
			s.other(refused)
		}, 1, []string{"no-spurious-refusal"}},
		{"renewed as it is released, the answer to which is lost", func(s *scene) {
			lease := s.granted()
			s.to(at(10))
			s.answered(answer{Error: "unknown"})
			s.release(lease)
			s.renewed(at(10))
			s.to(at(19))
			s.other(refused)
		}, 2, nil},
		{"renewed as it is released, and lost by that", func(s *scene) {
			lease := s.granted()
			s.to(at(2))
			s.answered(answer{OK: &grant{}})
			time.AfterFunc(at(0), func() { s.says(answer{Renewed: 41, AttemptNS: int64(at(2)), Error: errorNotHeld}) })
			s.release(lease)
			s.other(nil)
		}, 0, nil},
		{"extended, and renewed by a shorter lease which nobody is told of", func(s *scene) {
			lease := s.granted()
			s.to(at(2))
			s.answered(answer{OK: &grant{}})
			_ = lease.(lockbench.Extender).Extend(s.t.Context(), time.Minute)
			s.to(at(14))
			s.other(nil)
			s.answered(answer{OK: &grant{}})
			s.release(lease)
		}, 1, []string{"exclusion@outlived", "loss-reported@outlived"}},
		{"renewed as its owner dies", func(s *scene) {
			s.granted()
			s.to(at(10))
			s.owner.Die("crash")
			s.to(at(19))
			s.other(refused)
		}, 1, nil},
		{"renewed after a release that did nothing", func(s *scene) {
			lease := s.granted()
			s.to(at(2))
			s.answered(answer{Error: errorNoEffect})
			s.release(lease)
			s.to(at(9))
			s.renewed(at(8))
			s.to(at(17))
			s.renewed(at(16))
			s.to(at(25))
			s.other(refused)
		}, 1, nil},
		{"lost, as its owner was told by an extend", func(s *scene) {
			lease := s.granted()
			s.to(at(12))
			s.other(nil)
			s.answered(answer{Error: errorNotHeld})
			_ = lease.(lockbench.Extender).Extend(s.t.Context(), at(10))
			if n := len(s.program.renewed); n != 0 {
				s.t.Errorf("%d holds may still be renewed", n)
			}
		}, 1, []string{"exclusion@outlived"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := play(t, tt.acts)
			var broken []string
			for _, f := range found.Findings {
				if f.Against > 0 {
					broken = append(broken, f.Cell.String())
				}
			}
			if !slices.Equal(broken, tt.broken) || found.Unknown != tt.unknown || len(found.Defects) > 0 {
				t.Errorf("broken: %v, want %v; %d unknown, want %d; defects: %v; all: %+v", broken, tt.broken, found.Unknown, tt.unknown, found.Defects, found.Findings)
			}
		})
	}
}
