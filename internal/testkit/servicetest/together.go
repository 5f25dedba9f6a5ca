package servicetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// Together checks that several machines can use records with one prefix on a server, which they open, read, write and
// remove at the same time. A sweep may fail where another one removes the same; the next one does not.
func Together(t *testing.T, s Private, b design.Backend) {
	const machines, prefix = 4, "lockbench:0123abcd:"
	by := s.Reach().(design.Addressed)
	conn, err := by.DialServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := by.URL(conn.RemoteAddr().String())
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	var all []design.Service
	for range machines {
		opened, err := b.Open(t.Context(), []string{address}, 1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, opened[0])
	}
	each := func(f func(i int, on design.Service) error) {
		t.Helper()
		var errs [machines]error
		var work sync.WaitGroup
		for i, on := range all {
			work.Go(func() { errs[i] = f(i, on) })
		}
		work.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Error(err)
		}
	}
	key := func(i int) string { return fmt.Sprint("key-", i) }
	each(func(i int, on design.Service) error {
		records := on.(design.Keeper).Records(prefix)
		return errors.Join(records.Write(t.Context(), key(i), lockbench.Record{Value: int64(i), Version: 1}), records.Close())
	})
	each(func(i int, on design.Service) error {
		records := on.(design.Keeper).Records(prefix)
		other := (i + 1) % machines
		got, err := records.Read(t.Context(), key(other))
		if err == nil && got.Value != int64(other) {
			err = fmt.Errorf("machine %d reads %v of machine %d", i, got, other)
		}
		return errors.Join(err, records.Close())
	})
	each(func(_ int, on design.Service) error {
		_, err := on.Sweep(t.Context(), prefix)
		if err != nil {
			_, err = on.Sweep(t.Context(), prefix)
		}
		return err
	})
	if n, err := s.Sweep(t.Context(), prefix); n > 0 || err != nil {
		t.Errorf("%d records are left, error %v", n, err)
	}
	each(func(_ int, on design.Service) error { return on.Close() })
}
