package load

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

// control returns the control of that name.
func control(t *testing.T, name string) design.Design {
	t.Helper()
	found, err := impls.MatchRun(name)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// watched is a service that counts the writes to its records, and keeps the final records.
type watched struct {
	design.Service
	mu   sync.Mutex
	told map[string]int64 // the change of a record by the writes that were answered ok
	last map[string]int64
}

func (w *watched) Records(prefix string) design.Records {
	return watchedRecords{w.Service.(design.Keeper).Records(prefix), w}
}

type watchedRecords struct {
	design.Records
	w *watched
}

func (r watchedRecords) Guarded(lockbench.Guard) (lockbench.Store, error) { return r, nil }

// Read keeps the last read record: the driver reads every record when the clients have stopped.
func (r watchedRecords) Read(ctx context.Context, key string) (lockbench.Record, error) {
	rec, err := r.Records.Read(ctx, key)
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.last[key] = rec.Value
	return rec, err
}

// Write counts the writes of clients. They have higher versions than the stock.
func (r watchedRecords) Write(ctx context.Context, key string, rec lockbench.Record) error {
	err := r.Records.Write(ctx, key, rec)
	if err == nil && rec.Version>>40 > 0 {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		r.w.told[key]++
	}
	return err
}

// settled runs c and returns its business, which the summary and the history must agree on.
func settled(t *testing.T, c Config) *runinfo.Business {
	t.Helper()
	b, _ := settledAndJudged(t, c)
	return b
}

// settledAndJudged is like settled, with the judgement of the run.
func settledAndJudged(t *testing.T, c Config) (*runinfo.Business, checker.Result) {
	t.Helper()
	var record bytes.Buffer
	c.History = &record
	s, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, result, end := judge(t, record.Bytes())
	if diff := cmp.Diff(end.Trailer.Business, s.Business); diff != "" || s.Business == nil {
		t.Fatalf("in the history (-got +want the summary's):\n%s", diff)
	}
	return s.Business, result
}

// TestOversoldIsWhatTheStoreLost counts the sales of a lock that locks nobody out a second time,
// by the requests to the store and by its content.
func TestOversoldIsWhatTheStoreLost(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	seen := &watched{Service: server, told: map[string]int64{}, last: map[string]int64{}}
	o := options(func(o *workloads.Options) { o.Duration, o.Operations, o.Stock = 0, 400, 1000 })
	b := settled(t, Config{Design: control(t, "control/no-lock"), Services: backend.Group{server}, Records: seen, Workload: workloads.Must("oversell"), Options: o})
	sold, gone := seen.told["key-0000"], 1000-seen.last["key-0000"]
	want := map[string]int64{"sold": sold, "gone": gone, "oversold": sold - gone, "uncertain": 0}
	if diff := cmp.Diff(b.Figures, want); diff != "" || sold <= gone {
		t.Errorf("%s\n(-got +want what the store saw):\n%s", b.Says, diff)
	}
}

// TestSoundLocksDoNoDamage: no sale is lost under a sound lock, unless a machine that is busy lets an
// owner work past its lease.
func TestSoundLocksDoNoDamage(t *testing.T) {
	for name, faults := range map[string]string{"none": "", "lost replies": "lost-reply,p=0.2", "crashes": "crash,p=0.02"} {
		for _, w := range []string{"oversell", "redeem"} {
			t.Run(w+", "+name, func(t *testing.T) {
				t.Parallel()
				o := options(func(o *workloads.Options) { o.TTL, o.Duration, o.Operations = 200*time.Millisecond, 0, 300 })
				c := Config{Design: tokenDesign(), Services: backend.Group{servertest.Start(t)}, Workload: workloads.Must(w), Options: o}
				if faults != "" {
					c.Faults = []fault.Fault{mustParse(t, faults)}
				}
				b, result := settledAndJudged(t, c)
				late := slices.ContainsFunc(result.Findings, func(f checker.CellFinding) bool {
					return f.Cell.Guarantee == lockbench.Effects && f.Cell.Under.Has(lockbench.Outlived) && f.Violations > 0
				})
				for _, damage := range []string{"oversold", "overdrawn", "missing"} {
					if n, _ := b.Figure(damage); n != 0 && !late {
						t.Errorf("%s %d: %s", damage, n, b.Says)
					}
				}
				if b.Figures["sold"]+b.Figures["redeemed"] == 0 {
					t.Errorf("nothing was done: %+v", b)
				}
			})
		}
	}
}

func mustParse(t *testing.T, text string) fault.Fault {
	t.Helper()
	f, err := fault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAtomicStepsDoNoDamage has controls do the business of each workload in one request.
func TestAtomicStepsDoNoDamage(t *testing.T) {
	for name, figure := range map[string]string{"oversell": "sold", "redeem": "redeemed", "cron": "jobs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(func(o *workloads.Options) { o.Period = 100 * time.Millisecond })
			c := Config{Design: control(t, "control/atomic"), Services: backend.Group{servertest.Start(t)}, Workload: workloads.Must(name), Options: o}
			b := settled(t, c)
			for _, damage := range []string{"oversold", "overdrawn", "missing", "repeated"} {
				if n, _ := b.Figure(damage); n != 0 {
					t.Errorf("%s %d: %s", damage, n, b.Says)
				}
			}
			if b.Figures[figure] == 0 {
				t.Errorf("nothing was done: %+v", b)
			}
		})
	}
	t.Run("mutex", func(t *testing.T) {
		_, err := Run(t.Context(), Config{Design: control(t, "control/atomic"), Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), Options: options(nil)})
		if err == nil || !strings.Contains(err.Error(), "hint: workload oversell, redeem or cron") {
			t.Errorf("got %v, want what one request could do", err)
		}
	})
}

// TestNothingIsSaidOfAStoreThatLostData removes the records under the run.
func TestNothingIsSaidOfAStoreThatLostData(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	b := settled(t, Config{Design: tokenDesign(), Services: backend.Group{server}, Records: forgetful{server}, Workload: workloads.Must("oversell"),
		Options: options(func(o *workloads.Options) { o.Duration, o.Operations = 0, 40 })})
	if b.Figures != nil || b.Says != "" || !strings.Contains(b.Why, "is gone") {
		t.Errorf("got %+v, want nothing but why", b)
	}
}

// forgetful keeps no record.
type forgetful struct{ design.Service }

func (f forgetful) Records(prefix string) design.Records {
	return forgotten{f.Service.(design.Keeper).Records(prefix)}
}

type forgotten struct{ design.Records }

func (f forgotten) Guarded(lockbench.Guard) (lockbench.Store, error) { return f, nil }

func (forgotten) Read(context.Context, string) (lockbench.Record, error) {
	return lockbench.Record{}, nil
}

// TestWorkWithoutALockDoesDamage: the figures show the damage. Reads are slow, so that others
// write meanwhile, and there are enough points for all, because a lost refill cancels lost
// redemptions.
func TestWorkWithoutALockDoesDamage(t *testing.T) {
	for name, damages := range map[string][]string{"oversell": {"oversold"}, "redeem": {"overdrawn", "missing"}, "cron": {"repeated"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(func(o *workloads.Options) {
				o.Points = 100_000
				if o.Period = 100 * time.Millisecond; name != "cron" {
					o.Duration, o.Operations = 0, 400
				}
			})
			server := servertest.Start(t)
			b := settled(t, Config{Design: control(t, "control/no-lock"), Services: backend.Group{server}, Records: slow{server}, Workload: workloads.Must(name), Options: o})
			var n int64
			for _, damage := range damages {
				n += b.Figures[damage]
			}
			if n == 0 {
				t.Errorf("no damage: %s", b.Says)
			}
		})
	}
}

// slow delays the reads of records.
type slow struct{ design.Service }

func (s slow) Records(prefix string) design.Records {
	return late{s.Service.(design.Keeper).Records(prefix)}
}

type late struct{ design.Records }

func (l late) Guarded(lockbench.Guard) (lockbench.Store, error) { return l, nil }

func (l late) Read(ctx context.Context, key string) (lockbench.Record, error) {
	r, err := l.Records.Read(ctx, key)
	time.Sleep(time.Millisecond)
	return r, err
}
