package checker

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/synthetic"
)

// listed is a history with its events in memory.
type listed struct {
	header history.Header
	events []history.Event
	end    history.End
}

func (l *listed) Header() history.Header { return l.header }
func (l *listed) End() history.End       { return l.end }

func (l *listed) Events() iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for _, ev := range l.events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// together makes one history of several, each with one key: the n-th has a key and clients
// of its own, or shares its clients with the others.
func together(all []history.Source, share bool) *listed {
	l := &listed{header: all[0].Header()}
	l.header.Faults = nil // so that faults come unexpectedly
	queues := make([][]history.Event, len(all))
	for n, src := range all {
		queues[n] = moved(src, n, share)
		if src.End().Partial {
			l.end = src.End()
		}
	}
	for {
		best := -1
		for n, q := range queues {
			if len(q) > 0 && (best < 0 || stampOf(q[0]).Before(stampOf(queues[best][0]))) {
				best = n
			}
		}
		if best < 0 {
			return l
		}
		l.events = append(l.events, queues[best][0])
		queues[best] = queues[best][1:]
	}
}

// moved returns the events of src for the n-th key.
func moved(src history.Source, n int, share bool) (events []history.Event) {
	copies := map[*history.Op]*history.Op{}
	for ev := range src.Events() {
		op := copies[ev.Op]
		if op == nil {
			c := *ev.Op
			op = &c
			copies[ev.Op] = op
			if op.Key != "" {
				op.Key = fmt.Sprint("k", n)
			}
			if op.Client >= 0 && !share {
				op.Client, op.Process = op.Client+int32(100*n), op.Process+int32(100*n)
			}
		}
		events = append(events, history.Event{Phase: ev.Phase, Op: op})
	}
	return events
}

// inParallel is the Result of a Parallel.
func inParallel(src history.Source, goroutines int) Result {
	p := newParallel(src.Header(), goroutines)
	for ev := range src.Events() {
		p.add(ev)
	}
	return p.finish(src.End())
}

// compareParallel compares the Result of a Parallel with a Checker's.
func compareParallel(t *testing.T, src history.Source, goroutines int) Result {
	t.Helper()
	want, err := Check(src)
	if err != nil {
		t.Fatal(err)
	}
	got := inParallel(src, goroutines)
	got.CrossChecked, want.CrossChecked = 0, 0 // porcupine has a time limit
	if diff := cmp.Diff(got, want); diff != "" {
		t.Fatalf("%d goroutines (-parallel +sequential):\n%s", goroutines, diff)
	}
	return got
}

// TestParallelSaysTheSame judges histories of several keys, sound and broken, with
// faults that come as a surprise or none, by a Parallel and by a Checker.
func TestParallelSaysTheSame(t *testing.T) {
	faults := []mutation{sound}
	for _, b := range expectations {
		faults = append(faults, b.fault)
	}
	sharded, broken := 0, 0
	for seed := range uint64(*histories / 30) {
		r := rand.New(rand.NewPCG(seed, 9))
		var all []history.Source
		for n := range 3 + r.Uint64N(5) {
			s := simulate(1000*seed+n, faults[r.IntN(len(faults))])
			if len(all) == 0 || s.header.Reacquire == all[0].Header().Reacquire && s.header.RenewsUnseen == all[0].Header().RenewsUnseen {
				all = append(all, s)
			}
		}
		src := together(all, r.IntN(2) == 0)
		result := compareParallel(t, src, 2+r.IntN(4))
		if result.Exit() == exitBroken || result.WorstOverlap > 0 {
			broken++
		}
		if len(all) > 1 && src.header.Reacquire == "refused" {
			sharded++
		}
	}
	t.Logf("the same of %d histories of several keys, of which shards judged %d, and overlaps were found in %d", *histories/30, sharded, broken)
	if sharded == 0 || broken == 0 {
		t.Error("the histories test nothing")
	}
}

// TestParallelSaysTheSameOfRandomOnes does so with histories that no server had a part in.
func TestParallelSaysTheSameOfRandomOnes(t *testing.T) {
	for seed := range uint64(*histories / 30) {
		r := rand.New(rand.NewPCG(seed, 11))
		var all []history.Source
		for len(all) < 4 {
			m, _ := generate(r)
			if len(all) == 0 || m.header.Reacquire == all[0].Header().Reacquire {
				all = append(all, m)
			}
		}
		compareParallel(t, together(all, seed%2 == 0), 2+r.IntN(4))
	}
}

// made reads a synthetic history while it is made.
func made(t *testing.T, c synthetic.Config) history.Source {
	t.Helper()
	out, in := io.Pipe()
	go func() {
		_, err := synthetic.Write(in, c, history.NewWriter)
		in.CloseWithError(err)
	}()
	src, err := history.NewSource(out)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestParallelFindsWhatWasPlanted judges long histories, with any share of unknown
// outcomes: it finds the violations that there are, and keeps no more of a long one
// than of a short one. Short runs judge a shorter one only, which is long enough that the
// shards are at work while events are added, for the race detector to see.
func TestParallelFindsWhatWasPlanted(t *testing.T) {
	for _, unknown := range []float64{0, 0.3} {
		t.Run(fmt.Sprint(unknown), func(t *testing.T) {
			c := synthetic.Usual()
			c.Violations, c.Unknown, c.Keys = 3, unknown, 300
			kept := func(ops int64) uint64 {
				c.Ops = ops
				src := made(t, c)
				p := newParallel(src.Header(), 2)
				for ev, err := range src.Events() {
					if err != nil {
						t.Fatal(err)
					}
					p.add(ev)
				}
				p.join()
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				if got := p.finish(src.End()).Find(lockbench.Exclusion.At(0)); got.Violations != c.Violations {
					t.Errorf("of %d operations: found %d violations, want %d", ops, got.Violations, c.Violations)
				}
				return m.HeapAlloc
			}
			if testing.Short() {
				kept(30_000)
				return
			}
			some := int64(longtest.Times(30_000, 100_000))
			if short, long := kept(some), kept(3*some); long > short+short/2 {
				t.Errorf("%d bytes are kept of %d operations, %d of %d", long, 3*some, short, some)
			}
		})
	}
}
