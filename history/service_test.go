package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
)

// inMemory is a lock in memory with practically no lease. The names of some keys set its answers to
// their releases.
type inMemory struct {
	mu   sync.Mutex
	held map[string]bool
}

var errSilent = errors.New("no answer")

func (l *inMemory) Acquire(_ context.Context, key string, _ lockbench.Options) (lockbench.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key == "silent" {
		return nil, errSilent
	}
	if l.held[key] {
		return nil, lockbench.ErrNotAcquired
	}
	l.held[key] = true
	return inMemoryLease{l, key}, nil
}

type inMemoryLease struct {
	lock *inMemory
	key  string
}

func (l inMemoryLease) Release(context.Context) error {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	if !l.lock.held[l.key] {
		return lockbench.ErrNotHeld
	}
	l.lock.held[l.key] = false
	return nil
}

func newInMemory() *inMemory { return &inMemory{held: map[string]bool{}} }

// TestServiceSamplesKeys: a key is recorded wholly or not at all, and each grant has an owner that
// no other grant has meanwhile.
func TestServiceSamplesKeys(t *testing.T) {
	var file bytes.Buffer
	r, err := NewRecorder(&file, Header{Design: "in-memory", Sample: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	lock := r.Locker(newInMemory())
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				lease, err := lock.Acquire(t.Context(), fmt.Sprint("key ", (g+i)%50), lockbench.Options{TTL: time.Minute})
				if err == nil {
					_ = lease.Release(t.Context())
					_ = lease.Release(t.Context()) // as a deferred one after it; it is recorded no more
				}
			}
		})
	}
	all.Wait()
	if err := r.Close(Trailer{}); err != nil {
		t.Fatal(err)
	}
	src, err := NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	calls, releases, busy := map[string]int{}, 0, map[int32]int64{}
	for ev, err := range src.Events() {
		switch op := ev.Op; {
		case err != nil:
			t.Fatal(err)
		case ev.Phase == Call && op.Kind == Acquire:
			calls[op.Key]++
			if hold, taken := busy[op.Client]; taken {
				t.Fatalf("client %d acquires while it has hold %d", op.Client, hold)
			}
			if op.Outcome == OK {
				busy[op.Client] = op.Hold
			}
		case ev.Phase == Return && op.Kind == Release:
			releases++
			delete(busy, op.Client)
		}
	}
	for i := range 50 {
		key := fmt.Sprint("key ", i)
		if want := sampled(key, 0.3); want != (calls[key] == 80) || !want && calls[key] > 0 {
			t.Errorf("%s: %d acquires in the record, sampled: %v", key, calls[key], want)
		}
	}
	if len(calls) < 8 || len(calls) > 40 || releases == 0 {
		t.Errorf("%d keys of 50 in the record, %d releases", len(calls), releases)
	}
}

// TestSampleIsThatOfOtherLanguages: recorders in Python and Node record the same keys.
func TestSampleIsThatOfOtherLanguages(t *testing.T) {
	for key, want := range map[string]bool{"item:0": false, "item:1": true, "item:2": false} {
		if got := sampled(key, 0.5); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// TestUnknownOutcomesEndAnOwner: after an unknown outcome a client number is not used any more, and
// its memory is freed.
func TestUnknownOutcomesEndAnOwner(t *testing.T) {
	var file bytes.Buffer
	r, err := newRecorder(&file, Header{Design: "in-memory"}, pace{time.Hour, 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	lock := r.Locker(newInMemory())
	for range 3 {
		if _, err := lock.Acquire(t.Context(), "silent", lockbench.Options{TTL: time.Minute}); !errors.Is(err, errSilent) {
			t.Fatal(err)
		}
	}
	if r.owners.number != 3 || r.owners.busy != 0 || len(r.owners.free) != 0 {
		t.Errorf("%d owners, %d busy, %d free; want 3, 0 and 0", r.owners.number, r.owners.busy, len(r.owners.free))
	}
	if err := r.Close(Trailer{}); err != nil {
		t.Fatal(err)
	}
}

// blocked is a file that takes nothing any more.
type blocked struct {
	free    chan struct{}
	reached chan struct{}
	once    sync.Once
	header  bool
}

func (b *blocked) Write(p []byte) (int, error) {
	if !b.header {
		b.header = true
		return len(p), nil
	}
	b.once.Do(func() { close(b.reached) })
	<-b.free
	return len(p), nil
}

// TestServiceIsNeverHeldUp: while the file takes nothing, calls go on, until recording is given up,
// and memory stays as it is.
func TestServiceIsNeverHeldUp(t *testing.T) {
	file := &blocked{free: make(chan struct{}), reached: make(chan struct{})}
	r, err := newRecorder(file, Header{Design: "in-memory"}, pace{time.Millisecond, 20 * blockOps})
	if err != nil {
		t.Fatal(err)
	}
	lock := r.Locker(newInMemory())
	round := func() {
		lease, err := lock.Acquire(t.Context(), "k", lockbench.Options{TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	<-file.reached
	for r.Err() == nil {
		round()
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 100_000 {
		round()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("100,000 rounds that are dropped take %d bytes", grown)
	}
	close(file.free)
	if err := r.Close(Trailer{}); err == nil {
		t.Error("the record is said to be whole")
	}
}

// TestGrantsThatAreNeverReleasedAreBounded: each takes memory, so that recording ends.
func TestGrantsThatAreNeverReleasedAreBounded(t *testing.T) {
	r, err := NewRecorder(io.Discard, Header{Design: "in-memory"})
	if err != nil {
		t.Fatal(err)
	}
	lock := r.Locker(newInMemory())
	for i := range maxOwners + 2 {
		if _, err := lock.Acquire(t.Context(), fmt.Sprint(i), lockbench.Options{TTL: time.Minute}); err != nil {
			t.Fatal(err)
		}
	}
	checkError(t, r.Close(Trailer{}), "16384 grants are neither released nor lost; hint: ")
}

// TestWordsAreBounded: keys without end are written, and remembered up to a number.
func TestWordsAreBounded(t *testing.T) {
	var v stringTable
	var d decoder
	for i := range maxStrings + 100 {
		key := fmt.Sprint(i)
		in := payloadReader{rest: v.append(nil, key)}
		if got := d.string(&in); got != key || in.bad {
			t.Fatalf("%q, want %q", got, key)
		}
	}
	for _, key := range []string{"0", fmt.Sprint(maxStrings - 1), fmt.Sprint(maxStrings + 5)} {
		in := payloadReader{rest: v.append(nil, key)}
		if got := d.string(&in); got != key {
			t.Errorf("%q, want %q", got, key)
		}
	}
	if len(v.numbers) != maxStrings {
		t.Errorf("%d strings are remembered, want %d", len(v.numbers), maxStrings)
	}
}

// BenchmarkService is an acquire and a release of a lock that takes no time, through a Recorder:
// with a recorded key, and with one that is not.
func BenchmarkService(b *testing.B) {
	for _, c := range []struct {
		name string
		part float64
	}{{"recorded", 0}, {"left out", 1e-18}} {
		b.Run(c.name, func(b *testing.B) {
			r, err := NewRecorder(io.Discard, Header{Design: "in-memory", Sample: c.part})
			if err != nil {
				b.Fatal(err)
			}
			lock := r.Locker(newInMemory())
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				lease, err := lock.Acquire(ctx, "a key of usual length", lockbench.Options{TTL: time.Minute})
				if err != nil {
					b.Fatal(err)
				}
				if err := lease.Release(ctx); err != nil {
					b.Fatal(err)
				}
			}
			if err := r.Close(Trailer{}); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		lock, ctx := newInMemory(), context.Background()
		b.ReportAllocs()
		for b.Loop() {
			lease, _ := lock.Acquire(ctx, "a key of usual length", lockbench.Options{TTL: time.Minute})
			_ = lease.Release(ctx)
		}
	})
}
