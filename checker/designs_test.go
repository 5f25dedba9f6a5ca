package checker_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestParallelSaysTheSameOfDesigns judges histories of the documented designs in use, side
// by side and by one checker.
func TestParallelSaysTheSameOfDesigns(t *testing.T) {
	for _, d := range impls.Documented() {
		t.Run(d.Name, func(t *testing.T) {
			saved := ran(t, d)
			want, err := checker.Check(source(t, saved))
			if err != nil {
				t.Fatal(err)
			}
			if want.Grants == 0 {
				t.Error("nothing was granted")
			}
			src := source(t, saved)
			add, finish := checker.Parallel(src.Header(), 3)
			for ev, err := range src.Events() {
				if err != nil {
					t.Fatal(err)
				}
				add(ev)
			}
			got := finish(src.End())
			got.CrossChecked, want.CrossChecked = 0, 0 // porcupine has a time limit
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("verdicts (-parallel +sequential):\n%s", diff)
			}
		})
	}
}

// short is a lease that is often outlived.
const short = 10 * time.Millisecond

// ran is the history of 300 ms of virtual time of d, with short leases if it can have
// them: a dozen owners in four processes, and six keys.
func ran(t *testing.T, d design.Design) []byte {
	var saved bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		opt := servertest.Virtual(t, 1)
		recorder, err := history.NewRecorder(&saved, history.Header{
			Design: d.Name, Claims: d.Claims, Reacquire: string(d.Reacquire), Renews: d.Renews, ToleranceNS: int64(d.Tolerance),
		})
		if err != nil {
			t.Fatal(err)
		}
		var owners sync.WaitGroup
		end := time.Now().Add(300 * time.Millisecond)
		for n := range int32(4) {
			process, err := d.Open(design.Environment{Services: []any{onredis.Server{Options: opt}}, Host: "h", PID: int(n), Now: time.Now, Random: crand.Reader})
			if err != nil {
				t.Fatal(err)
			}
			defer process.Close()
			for i := range int32(3) {
				client := recorder.Client(3*n+i, n)
				client.Grants(d.Lease)
				owner := client.Locker(process.Locker(client))
				random := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				owners.Go(func() { use(t.Context(), owner, d, random, end) })
			}
		}
		owners.Wait()
		if err := recorder.Close(history.Trailer{}); err != nil {
			t.Fatal(err)
		}
	})
	return saved.Bytes()
}

// use takes and frees locks of d until the end.
func use(ctx context.Context, owner lockbench.Locker, d design.Design, random *rand.Rand, end time.Time) {
	o := lockbench.Options{TTL: time.Second, Wait: 10 * time.Millisecond}
	if d.Granted != nil && d.Granted(short) == short {
		o.TTL = short
	}
	for time.Now().Before(end) {
		lease, err := owner.Acquire(ctx, fmt.Sprint("k", random.IntN(6)), o)
		if err == nil && lease != nil {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(short)))
			_ = lease.Release(ctx) // it may be lost
		}
		time.Sleep(time.Millisecond)
	}
}

func source(t *testing.T, saved []byte) history.Source {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(saved))
	if err != nil {
		t.Fatal(err)
	}
	return src
}
