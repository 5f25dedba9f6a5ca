package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// script is a Locker, its leases and a Store in one: it logs the calls and
// answers them as told.
type script struct {
	calls   []string
	answer  func(call int) error // to the n-th acquire, from 0; nil grants all
	release error
	extend  error
	storing error
	value   int64
	version []uint64 // of the writes
	count   int
	granted time.Duration // by Valid; zero is the TTL asked for
}

var errLost = errors.New("connection lost")

func (s *script) Acquire(_ context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	s.log("acquire %s ttl %v wait %v", key, opt.TTL, opt.Wait)
	s.count++
	if s.answer != nil {
		if err := s.answer(s.count - 1); err != nil {
			return nil, err
		}
	}
	granted := opt.TTL
	if s.granted > 0 {
		granted = s.granted
	}
	return &scriptLease{s, granted}, nil
}

func (s *script) Read(context.Context, string) (lockbench.Record, error) {
	s.log("read")
	return lockbench.Record{Value: s.value}, s.storing
}

func (s *script) Write(_ context.Context, _ string, r lockbench.Record) error {
	s.log("write %d", r.Value)
	s.value = r.Value
	s.version = append(s.version, r.Version)
	return s.storing
}

func (s *script) log(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

type scriptLease struct {
	*script
	granted time.Duration
}

func (l *scriptLease) Release(context.Context) error {
	l.log("release")
	return l.release
}

func (l *scriptLease) Extend(_ context.Context, ttl time.Duration) error {
	l.log("extend %v", ttl)
	return l.extend
}

func (l *scriptLease) ReleaseAfter(_ context.Context, d time.Duration) error {
	l.log("release after %v", d)
	return l.release
}

func (l *scriptLease) Valid() (time.Time, time.Duration) { return time.Now(), l.granted }

// only hides the abilities of the lease within.
type only struct{ lockbench.Lease }

type bare struct{ *script }

func (b bare) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := b.script.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	return only{lease}, nil
}
