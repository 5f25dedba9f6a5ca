package runner

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/synthetic"
)

// A heapProbe measures the live heap after a number of events was judged, and again after eight
// times as many.
type heapProbe struct {
	after, events int
	early, late   uint64
}

func (p *heapProbe) judged(Snapshot, history.Event) {
	switch p.events++; p.events {
	case p.after:
		p.early = alive()
	case 8 * p.after:
		p.late = alive()
	}
}

func alive() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // frees memory that only finalizers and pools kept
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryOfARunIsFlat checks that the memory needed to judge and measure a run does not grow
// with its length, whatever errors it has.
func TestMemoryOfARunIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("judges long histories")
	}
	for _, c := range []struct {
		name   string
		events int
		most   int64 // bytes that may be added while seven times as many follow
		write  func(w *history.Writer, events int) (history.End, error)
	}{
		{"nothing goes wrong", 80_000, 1 << 20, func(w *history.Writer, events int) (history.End, error) {
			_, end, err := synthetic.Generate(synthetic.Config{Ops: int64(events), Keys: 16, Clients: 32, Seed: 1, TTL: 100 * time.Millisecond}, w)
			return end, err
		}},
		{"a tenth is unknown", 80_000, 1 << 20, func(w *history.Writer, events int) (history.End, error) {
			_, end, err := synthetic.Generate(synthetic.Config{Ops: int64(events), Keys: 16, Clients: 32, Unknown: 0.1, Violations: 9, Seed: 1, TTL: 100 * time.Millisecond}, w)
			return end, err
		}},
		// Only the stream of a dead client is remembered.
		{"every client dies", 16_000, 64 * 7 * 16_000 / eventsOfALife, dyingClients},
		{"releases fail", 20_000, 1 << 20, failingReleases},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.lbh")
			writeHistory(t, path, func(w *history.Writer) (history.End, error) { return c.write(w, 9*c.events) })
			src, err := history.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer src.(io.Closer).Close()
			probe := heapProbe{after: c.events}
			j, _, err := judgeBy(src, path, nil, join(), stepByStep(probe.judged))
			if err != nil || j.Err != nil || probe.late == 0 {
				t.Fatalf("errors %v and %v, %d events judged; want none, and %d", err, j.Err, probe.events, 8*c.events)
			}
			grown := int64(probe.late) - int64(probe.early)
			t.Logf("%d KiB alive, %d KiB after eight times as much", probe.early>>10, probe.late>>10)
			if grown > c.most {
				t.Errorf("%d bytes more are alive after eight times as much, want %d at most", grown, c.most)
			}
		})
	}
}

// mostMemory bounds the live memory while a million operations are judged and measured.
const mostMemory = 65 << 20

// TestMemoryOfAMillionOperations judges a long history as lockbench check does, and measures the
// heap twenty times.
func TestMemoryOfAMillionOperations(t *testing.T) {
	longtest.Only(t)
	c := synthetic.Usual()
	c.Ops = 1_000_000
	path := filepath.Join(t.TempDir(), "h.lbh")
	writeHistory(t, path, func(w *history.Writer) (history.End, error) {
		_, end, err := synthetic.Generate(c, w)
		return end, err
	})
	events, peak := 0, uint64(0)
	j, err := Judge(path, nil, Sink{Event: func(history.Event) {
		if events++; events%100_000 == 0 {
			peak = max(peak, alive())
		}
	}})
	if err != nil || j.Err != nil || j.Verdicts.Ops != c.Ops || events < int(c.Ops) {
		t.Fatalf("errors %v and %v, %d operations and %d events judged; want none, and %d operations", err, j.Err, j.Verdicts.Ops, events, c.Ops)
	}
	t.Logf("%d KiB alive at most", peak>>10)
	if peak > mostMemory {
		t.Errorf("%d bytes were alive, want %d at most", peak, mostMemory)
	}
}

func writeHistory(t *testing.T, path string, write func(*history.Writer) (history.End, error)) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := history.NewWriter(out, history.Header{Design: "d", Faults: []string{"crash"}})
	if err != nil {
		t.Fatal(err)
	}
	end, err := write(w)
	if err := errors.Join(err, w.Close(end), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// A script writes operations that follow each other in time.
type script struct {
	*history.Writer
	now, ops int64
	err      error
}

func (s *script) write(op history.Op) {
	op.Stream, op.Process = op.Client, op.Client
	op.Call, op.Attempt = s.now, s.now
	if op.Return != history.Never {
		op.Return = s.now + 1000
	}
	s.now += 2000
	s.err = errors.Join(s.err, s.Write(&op))
	if s.ops++; s.ops%1000 == 0 {
		s.err = errors.Join(s.err, s.Epoch(op.Call))
	}
}

func (s *script) end() (history.End, error) {
	return history.End{Trailer: history.Trailer{EndNS: s.now, Ended: "test"}}, s.err
}

// eventsOfALife is the number of events of a client that dies.
const eventsOfALife = 8

// dyingClients writes clients that meet some failures and die with a lock and a call in progress.
func dyingClients(w *history.Writer, events int) (history.End, error) {
	s := script{Writer: w}
	const ttl = 100_000
	for id := range int32(events / eventsOfALife) {
		hold, key := int64(id)*4, strconv.Itoa(int(id%16))
		s.write(history.Op{Client: id, Kind: history.Acquire, Key: key, Outcome: history.OK, Hold: hold + 1, Asked: ttl, Granted: ttl})
		s.write(history.Op{Client: id, Kind: history.Release, Key: key, Outcome: history.Unknown, Hold: hold + 1})
		s.now += 2_000_000_000
		s.write(history.Op{Client: id, Kind: history.Acquire, Key: key, Outcome: history.OK, Hold: hold + 2, Asked: ttl, Granted: ttl})
		s.write(history.Op{Client: id, Kind: history.Acquire, Key: key, Outcome: history.Unknown, Hold: hold + 3, Asked: ttl, Wait: ttl, Return: history.Never})
		s.write(history.Op{Client: id, Kind: history.Death, Outcome: history.OK, Return: history.Never})
		s.now += 2_000_000_000
	}
	return s.end()
}

// failingReleases writes holds that all end with their leases, because their releases fail.
func failingReleases(w *history.Writer, events int) (history.End, error) {
	s := script{Writer: w}
	const ttl = 100_000
	for i := range events / 4 {
		client, hold := int32(i%8), int64(i+1)
		s.write(history.Op{Client: client, Kind: history.Acquire, Key: "k", Outcome: history.OK, Hold: hold, Asked: ttl, Granted: ttl})
		s.write(history.Op{Client: client, Kind: history.Release, Key: "k", Outcome: history.Failed, Hold: hold})
		s.now += 2_000_000_000
	}
	return s.end()
}
