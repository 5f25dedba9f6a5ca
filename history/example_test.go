package history_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// A service records the answers of its lock, for one key in ten, and judges them later: lockbench
// check locks.lbh.
func ExampleRecorder_Locker() {
	dir, err := os.MkdirTemp("", "locks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "locks.lbh"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()

	recorder, err := history.NewRecorder(file, history.Header{
		Design: "stock", Claims: lockbench.LeaseClaims(), Sample: 0.1,
		Others: true, // other processes of the service use the same keys
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lock := recorder.Locker(new(stock)) // as before, from here on

	for i := range 100 {
		lease, err := lock.Acquire(context.Background(), fmt.Sprint("item:", i), lockbench.Options{TTL: time.Minute})
		if errors.Is(err, lockbench.ErrNotAcquired) {
			continue
		}
		if err := lease.Release(context.Background()); err != nil {
			fmt.Println(err)
		}
	}

	// At the end of the service. Without it, as after a kill, the last tenth of a second is missing.
	if err := recorder.Close(history.Trailer{EndNS: recorder.Now()}); err != nil {
		fmt.Println(err)
	}
	src, err := history.Open(file.Name())
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := 0
	for range src.Events() {
		calls++
	}
	fmt.Println(calls/4, "of 100 keys are in the record, partial:", src.End().Partial)
	// Output: 9 of 100 keys are in the record, partial: false
}

// stock is the lock of the service.
type stock struct {
	mu   sync.Mutex
	held map[string]bool
}

func (s *stock) Acquire(_ context.Context, key string, _ lockbench.Options) (lockbench.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] {
		return nil, lockbench.ErrNotAcquired
	}
	if s.held == nil {
		s.held = map[string]bool{}
	}
	s.held[key] = true
	return &stocked{s, key}, nil
}

type stocked struct {
	stock *stock
	key   string
}

func (s *stocked) Release(context.Context) error {
	s.stock.mu.Lock()
	defer s.stock.mu.Unlock()
	delete(s.stock.held, s.key)
	return nil
}
