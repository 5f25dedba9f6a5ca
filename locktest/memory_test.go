package locktest_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// service is a lock service in memory, sound except for its faults.
type service struct {
	mu    sync.Mutex
	held  map[string]*memoryLease
	calls atomic.Int64
	faults
}

// faults replace calls of owners by faulty ones; nil is no fault.
type faults struct {
	acquire func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error)
	release func(ctx context.Context, l *memoryLease) error
}

func newService(f faults) *service {
	return &service{held: map[string]*memoryLease{}, faults: f}
}

// Acquire implements lockbench.Locker.
func (s *service) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	s.calls.Add(1)
	if s.acquire != nil {
		return s.acquire(ctx, s, key, opt)
	}
	return s.wait(ctx, key, opt)
}

// wait is a sound acquire.
func (s *service) wait(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	for over := time.Now().Add(opt.Wait); ; time.Sleep(time.Millisecond) {
		if lease, err := s.try(key, opt.TTL); err == nil || !time.Now().Before(over) || ctx.Err() != nil {
			return lease, err
		}
	}
}

func (s *service) try(key string, ttl time.Duration) (lockbench.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[key]; h != nil && time.Now().Before(h.until) {
		return nil, lockbench.ErrNotAcquired
	}
	l := &memoryLease{service: s, key: key, until: time.Now().Add(ttl)}
	s.held[key] = l
	return l, nil
}

type memoryLease struct {
	service *service
	key     string
	until   time.Time
}

// Release implements lockbench.Lease.
func (l *memoryLease) Release(ctx context.Context) error {
	if l.service.release != nil {
		return l.service.release(ctx, l)
	}
	return l.free()
}

// free is a sound release.
func (l *memoryLease) free() error {
	s := l.service
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[l.key] != l || !time.Now().Before(l.until) {
		return lockbench.ErrNotHeld
	}
	delete(s.held, l.key)
	return nil
}

// plainDel frees the key, even if another owner holds it.
func plainDel(_ context.Context, l *memoryLease) error {
	l.service.mu.Lock()
	defer l.service.mu.Unlock()
	delete(l.service.held, l.key)
	return nil
}

// never blocks until over is closed, even after its context has ended.
func never(over <-chan struct{}) faults {
	return faults{acquire: func(context.Context, *service, string, lockbench.Options) (lockbench.Lease, error) {
		<-over
		return nil, lockbench.ErrNotAcquired
	}}
}

// neverLater blocks like never after a few grants.
func neverLater(over <-chan struct{}) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		if s.calls.Load() > 100 {
			<-over
		}
		return s.wait(ctx, key, opt)
	}}
}

// deaf waits and ignores its context.
func deaf(over <-chan struct{}) faults {
	return faults{acquire: func(_ context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-over:
				cancel()
			case <-ctx.Done():
			}
		}()
		return s.wait(ctx, key, opt)
	}}
}

// panicking panics when it is refused.
func panicking(<-chan struct{}) faults {
	return faults{release: func(_ context.Context, l *memoryLease) error {
		err := l.free()
		if err != nil {
			panic("no such lock")
		}
		return nil
	}}
}

// exiting ends its goroutine, as t.FailNow does.
func exiting(<-chan struct{}) faults {
	return faults{release: func(_ context.Context, l *memoryLease) error {
		if l.free() != nil {
			runtime.Goexit()
		}
		return nil
	}}
}

// leaseless grants without a lease.
func leaseless(<-chan struct{}) faults {
	return faults{acquire: func(context.Context, *service, string, lockbench.Options) (lockbench.Lease, error) { return nil, nil }}
}

// silent returns neither a lease nor an error for a refusal.
func silent(<-chan struct{}) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		lease, err := s.wait(ctx, key, opt)
		if err != nil {
			return nil, nil
		}
		return lease, nil
	}}
}

// eternal grants for an hour, whatever lease is asked for.
func eternal(<-chan struct{}) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		opt.TTL = time.Hour
		return s.wait(ctx, key, opt)
	}}
}

// wordy refuses with an error outside of the contract.
func wordy(<-chan struct{}) faults {
	return faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
		lease, err := s.wait(ctx, key, opt)
		if err != nil {
			return nil, errors.New("taken")
		}
		return lease, nil
	}}
}
