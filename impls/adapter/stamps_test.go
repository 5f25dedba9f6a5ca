//go:build linux

package adapter_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
)

// stamped opens a process of a fake that is to stamp.
func stamped(t *testing.T, fault string, set adapter.Settings) (design.Process, error) {
	t.Helper()
	return opened(t, fake(t, fault), set)
}

// opened opens a process of an adapter with settings.
func opened(t *testing.T, command string, set adapter.Settings) (design.Process, error) {
	t.Helper()
	d, err := adapter.Design(t.Context(), command)
	if err == nil {
		d, err = adapter.With(d, set)
	}
	if err != nil {
		return nil, err
	}
	p, err := d.Open(environment(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, p.(design.Program).Ready(t.Context())
}

// recorded records one acquire, extend and release of an adapter, and returns its process and the operations.
func recorded(t *testing.T, fault string, stamps bool, opt lockbench.Options) (design.Process, []history.Op) {
	t.Helper()
	p, err := stamped(t, fault, adapter.Settings{Stamps: stamps, Waits: opt.Wait > 0})
	if err != nil {
		t.Fatal(err)
	}
	ops := record(t, p, func(l lockbench.Locker) {
		lease, err := l.Acquire(t.Context(), "key", opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.(lockbench.Extender).Extend(t.Context(), opt.TTL); err != nil {
			t.Error(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if len(ops) != 3 {
		t.Fatalf("%d operations, want 3", len(ops))
	}
	return p, ops
}

// record records what an owner of a process does, and returns the operations.
func record(t *testing.T, p design.Process, use func(lockbench.Locker)) (ops []history.Op) {
	t.Helper()
	var file bytes.Buffer
	r, err := history.NewRecorder(&file, history.Header{Design: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Client(0, 0)
	use(c.Locker(p.Locker(c)))
	if err := r.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	source, err := history.NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Phase == history.Call {
			ops = append(ops, *e.Op)
		}
	}
	return ops
}

// TestStamps: the times of an adapter take the place of the driver's, which are wider by the way of the answer.
func TestStamps(t *testing.T) {
	const way = int64(20 * time.Millisecond)
	lease := lockbench.Options{TTL: time.Minute}
	_, wide := recorded(t, "slow pipe", false, lease)
	p, narrow := recorded(t, "slow pipe", true, lease)
	for i, op := range wide {
		if op.Return-op.Call < way {
			t.Errorf("%s by the driver's clock takes %d ns, want %d or more", op.Kind, op.Return-op.Call, way)
		}
		own := narrow[i]
		if i+1 < len(narrow) && narrow[i+1].Call-own.Return < way {
			t.Errorf("%s by the adapter's clock ends %d ns before the next operation, want %d or more", own.Kind, narrow[i+1].Call-own.Return, way)
		}
		if own.Call > own.Return || own.Attempt != history.NoStamp && own.Attempt != own.Call {
			t.Errorf("%s from %d to %d, its lease from %d", own.Kind, own.Call, own.Return, own.Attempt)
		}
	}
	driver, widths := p.(design.Stamped).Widths()
	if driver || len(widths) != len(narrow) || int64(widths[0]) < way {
		t.Errorf("the driver's times are wider by %v (used: %v), want %d times %d ns or more", widths, driver, len(narrow), way)
	}
	_, waited := recorded(t, "slow pipe", true, lockbench.Options{TTL: time.Minute, Wait: time.Minute})
	if waited[0].Attempt != history.NoStamp {
		t.Errorf("the library waits, and the attempt begins at %d", waited[0].Attempt)
	}
}

// TestUnstamped: adapters without stamps, or with a clock of their own, are refused before the run.
func TestUnstamped(t *testing.T) {
	for fault, want := range map[string]string{
		"no clock":    "its hello does not say clock monotonic, so its times are not known; hint: --stamps driver",
		"able":        "reports of losses have no stamps; hint: --stamps driver",
		"other clock": "is no time of CLOCK_MONOTONIC between its greeting and its hello",
	} {
		_, err := stamped(t, fault, adapter.Settings{Stamps: true})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "adapter \"") {
			t.Errorf("%s: error %v, want %s", fault, err, want)
		}
		if _, err := stamped(t, fault, adapter.Settings{}); err != nil {
			t.Errorf("%s by the driver's clock: %v", fault, err)
		}
	}
}

// TestLyingClock: stamps that cannot be ends the use of the adapter, by the driver's clock they do not count.
func TestLyingClock(t *testing.T) {
	for _, fault := range []string{"lying clock", "early clock", "clock runs back", "no stamps"} {
		p, err := stamped(t, fault, adapter.Settings{Stamps: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Locker(design.Blind).Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute})
		if err == nil {
			t.Fatalf("%s: no error", fault)
		}
		<-p.(design.Program).Done()
		for _, err := range []error{err, p.(design.Program).Err()} {
			if err == nil || !strings.Contains(err.Error(), "the answer to request 1 says call_ns") || !strings.Contains(err.Error(), "--stamps driver") || !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: error %v", fault, err)
			}
		}
		if p, err = stamped(t, fault, adapter.Settings{}); err != nil {
			t.Fatal(err)
		}
		acquire(t, p.Locker(design.Blind), "key")
	}
}

// TestLyingClockInARun: the run ends in the error, and has no verdict.
func TestLyingClockInARun(t *testing.T) {
	result, err := runWith(t, fake(t, "lying clock"), adapter.Settings{Stamps: true}, 1e9)
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Runs[0].Err; err == nil || !strings.Contains(err.Error(), "says call_ns") {
		t.Errorf("error %v", err)
	}
	for _, f := range result.Runs[0].Verdicts.Findings {
		if f.Against > 0 {
			t.Errorf("%s: %v against the lock", f.Cell, f.Against)
		}
	}
}
