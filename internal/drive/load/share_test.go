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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure"
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
		if got := src.Header().Share; got != s {
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
				case testing.Short() && (choice != workloads.Uniform || w.Name != "oversell"):
					t.Skip("the race detector sees in one what it would see in all")
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
				names[name{"version", int64(op.Version), ""}] = true // no two clients make one, whatever the key
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

// TestJoinedSharesEqualTheRun takes the record of a run apart by groups, judges and measures each part, and
// joins the results: they are the results of the whole record.
func TestJoinedSharesEqualTheRun(t *testing.T) {
	for _, d := range []design.Design{slowly(tokenDesign()), slowly(plainDesign())} {
		t.Run(d.Name, func(t *testing.T) {
			var record bytes.Buffer
			synctest.Test(t, func(t *testing.T) {
				o := grouped(func(o *workloads.Options) {
					o.Operations, o.Clients, o.Stallers, o.Slow, o.TTL = 600, 16, 16, 0.05, 30*time.Millisecond
				})
				c := Config{clock: sleeper{}, Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("oversell"), Options: o, History: &record}
				if _, err := Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			})
			whole, figures := judgeSome(t, record.Bytes(), func(int32) bool { return true })
			var verdicts []checker.Result
			var measures []measure.Measures
			for share := range int32(4) {
				v, m := judgeSome(t, record.Bytes(), func(client int32) bool { return client%4 == share })
				verdicts, measures = append(verdicts, v), append(measures, m)
			}
			joined := checker.Join(verdicts...)
			for _, f := range whole.Findings {
				got := joined.Find(f.Cell)
				if got.Verdict != f.Verdict || got.Exposure != f.Exposure || got.Violations != f.Violations || got.Against != f.Against || (got.Counterexample == nil) != (f.Counterexample == nil) {
					t.Errorf("%s: got %v, %d of %d, want %v, %d of %d", f.Cell, got.Verdict, got.Violations, got.Exposure, f.Verdict, f.Violations, f.Exposure)
				}
			}
			f := joined.Fairness
			if f.Jain-whole.Fairness.Jain > 0.002 || whole.Fairness.Jain-f.Jain > 0.002 {
				t.Errorf("Jain's index is %v, want %v", f.Jain, whole.Fairness.Jain)
			}
			if f.Jain = whole.Fairness.Jain; f != whole.Fairness || joined.Grants != whole.Grants || joined.Breaches != whole.Breaches || joined.WorstOverlap != whole.WorstOverlap {
				t.Errorf("got %+v and %d breaches, want %+v and %d", f, joined.Breaches, whole.Fairness, whole.Breaches)
			}
			if diff := cmp.Diff(joined.GrantsByClient, whole.GrantsByClient); diff != "" {
				t.Errorf("grants by client (-got +want):\n%s", diff)
			}
			if broken := whole.Find(lockbench.Exclusion.At(lockbench.Outlived)).Verdict == checker.Broken; !broken {
				t.Error("no owners at once after a slow hold: nothing was compared")
			}
			m := measure.Join(measures...)
			for _, op := range measure.Ops() {
				for i, p := range m.Phases() {
					want := figures.Phases()[i]
					got, had := p.Latency(op), want.Latency(op)
					if got.Count() != had.Count() || got.At(99) != had.At(99) || got.Max() != had.Max() || p.Counts != want.Counts {
						t.Errorf("%s of %s: got %d, %v, %v, want %d, %v, %v", op, p.Name, got.Count(), got.At(99), got.Max(), had.Count(), had.At(99), had.Max())
					}
				}
			}
			if diff := cmp.Diff(m.Timeline, figures.Timeline, cmpopts.IgnoreUnexported(measure.Timeline{})); diff != "" {
				t.Errorf("over time (-got +want):\n%s", diff)
			}
			if m.LostUpdates != figures.LostUpdates || m.LostUpdates == 0 {
				t.Errorf("%d updates lost, want %d, and some", m.LostUpdates, figures.LostUpdates)
			}
		})
	}
}

// judgeSome judges and measures the operations of some clients.
func judgeSome(t *testing.T, record []byte, has func(client int32) bool) (checker.Result, measure.Measures) {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	verdicts, figures := checker.New(src.Header()), measure.New(src.Header())
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if has(ev.Op.Client) {
			verdicts.Add(ev)
			figures.Add(ev)
		}
	}
	end := src.End()
	end.Trailer = history.Trailer{EndNS: end.Trailer.EndNS}
	return verdicts.Finish(end), figures.Result(end)
}
