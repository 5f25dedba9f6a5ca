package load

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// grouped are the options of a counted run of eight clients and stallers in four groups.
func grouped(change func(*workloads.Options)) workloads.Options {
	return options(func(o *workloads.Options) {
		o.Clients, o.Keys, o.Groups, o.Stallers, o.Duration, o.Operations = 8, 8, 4, 4, 0, 160
		if change != nil {
			change(o)
		}
	})
}

// share makes a share of a run in virtual time, and returns its operations.
func share(t *testing.T, c Config, s runinfo.Share) (ops []history.Op) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var record bytes.Buffer
		c.clock, c.Design, c.Services, c.History, c.Share = sleeper{}, slowly(tokenDesign()), backend.Group{embedded(t)}, &record, s
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if n := keysLeft(t, c.Services.First()); n != 0 {
			t.Errorf("%d keys left on the server", n)
		}
		src, err := history.NewSource(&record)
		if err != nil {
			t.Fatal(err)
		}
		if got := src.Header().Share; s.Whole() != (got == nil) || got != nil && *got != s {
			t.Errorf("the header has share %v, want %v", got, s)
		}
		for ev, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Phase == history.Call && ev.Op.Client >= 0 {
				ops = append(ops, *ev.Op)
			}
		}
	})
	return ops
}

// asked lists, for each measured client, the keys that it acquired, in order.
func asked(ops []history.Op) map[int32]string {
	all := map[int32]string{}
	for _, op := range ops {
		if op.Kind == history.Acquire && op.Client < 8 {
			all[op.Client] += op.Key + " "
		}
	}
	return all
}

// TestSharesMakeTheRun checks that the shares of a counted run make the requests of the whole run, each by
// the same client.
func TestSharesMakeTheRun(t *testing.T) {
	for _, w := range workloads.By(workloads.Live) {
		if w.Part != nil {
			continue
		}
		for _, choice := range workloads.KeyChoices() {
			t.Run(w.Name+"/"+choice, func(t *testing.T) {
				c := Config{Workload: w, Options: grouped(func(o *workloads.Options) { o.KeyChoice, o.Period = choice, 20*time.Millisecond })}
				switch _, err := w.Options(c.Options); {
				case choice != workloads.Uniform && w.Name != "mutex":
					t.Skip("mutex chooses likewise")
				case w.Name == "renewed": // its clients take the same key
					if err == nil || !strings.Contains(err.Error(), "groups 4") {
						t.Errorf("got %v, want an error that names the groups", err)
					}
					return
				}
				whole := asked(share(t, c, runinfo.Share{}))
				if len(whole) != 8 {
					t.Fatalf("%d clients acquired, want 8", len(whole))
				}
				for _, of := range []int{2, 3, 4} {
					parts := map[int32]string{}
					for i := range of {
						for client, keys := range asked(share(t, c, runinfo.Share{Index: i, Of: of})) {
							if parts[client] != "" {
								t.Errorf("of %d shares: two have client %d", of, client)
							}
							parts[client] = keys
						}
					}
					if diff := cmp.Diff(parts, whole); diff != "" {
						t.Errorf("%d shares (-shares +whole run):\n%s", of, diff)
					}
				}
			})
		}
	}
}

// TestSharesAreApart checks that no client, process, hold, version or key is in two shares of a run, also
// when owners die and others take their place.
func TestSharesAreApart(t *testing.T) {
	c := Config{
		Workload: workloads.Must("oversell"), Options: grouped(func(o *workloads.Options) { o.Operations = 2000 }),
		Faults: []fault.Fault{mustParse(t, "crash,p=0.02")},
	}
	type name struct {
		what   string
		number int64
		key    string
	}
	of, replaced := map[name]int{}, false
	for i := range 4 {
		names := map[name]bool{}
		for _, op := range share(t, c, runinfo.Share{Index: i, Of: 4}) {
			replaced = replaced || op.Process >= 12
			names[name{"client", int64(op.Client), ""}], names[name{"process", int64(op.Process), ""}] = true, true
			if op.Hold != 0 {
				names[name{"hold", op.Hold, ""}] = true
			}
			if op.Kind == history.Write {
				names[name{"version", int64(op.Version), op.Key}] = true
			}
			if !strings.HasPrefix(op.Key, "stall") && op.Key != "" {
				names[name{"key", 0, op.Key}] = true
			}
		}
		for n := range maps.Keys(names) {
			if other, twice := of[n]; twice {
				t.Errorf("shares %d and %d have %v", other, i, n)
			}
			of[n] = i
		}
	}
	if !replaced {
		t.Error("no process was replaced")
	}
}

// TestSharesOfATimetable checks that each arrival is in one share of it.
func TestSharesOfATimetable(t *testing.T) {
	o := even(500)
	o.Arrival = workloads.Poisson
	want := until(newTimetable(&o, runinfo.Share{}), time.Second)
	for _, of := range []int{1, 2, 3} {
		var all []time.Duration
		for i := range of {
			mine := until(newTimetable(&o, runinfo.Share{Index: i, Of: of}), time.Second)
			counted := newTimetable(&o, runinfo.Share{Index: i, Of: of}).count(time.Second)
			if n := (runinfo.Share{Index: i, Of: of}).Count(int64(len(want))); int64(len(mine)) != n || counted != n {
				t.Errorf("share %d of %d has %d arrivals and counts %d, want %d", i, of, len(mine), counted, n)
			}
			all = append(all, mine...)
		}
		slices.Sort(all)
		if diff := cmp.Diff(all, want); diff != "" {
			t.Errorf("%d shares (-shares +whole timetable):\n%s", of, diff)
		}
	}
}
