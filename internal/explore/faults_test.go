package explore_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

var findFaults = flag.Bool("find", false, "search every fault anew and rewrite its replay file")

const (
	faultFolder = "testdata/faults"
	// mostSteps is how long a schedule that shows a fault may be.
	mostSteps = 14
	// mostSchedules is how many -find looks at for one fault.
	mostSchedules = 100_000
	// mostSeeds bounds the tried seeds if schedules are drawn, mostDrawn the schedules for
	// each.
	mostSeeds, mostDrawn = 100, 10_000
	// soonFound bounds the schedules in TestFaultsAreFound for one fault.
	soonFound = 500
)

// soon is how long that may have taken when the file was written.
func soon() time.Duration {
	return time.Duration(longtest.Times(50, 250)) * time.Millisecond
}

// faults reads all replay files of known faults, in the order of their names.
func faults(t *testing.T) (all []faultFile) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(faultFolder, "*.replay"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no replay files: %v", faultFolder, err)
	}
	for _, path := range paths {
		f, err := readFault(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b faultFile) int { return strings.Compare(a.name(), b.name()) })
	return all
}

// TestFaults runs the schedule of each known fault again, exactly.
func TestFaults(t *testing.T) {
	for _, f := range faults(t) {
		t.Run(f.name(), func(t *testing.T) {
			if *findFaults {
				f = findAnew(t, f)
			}
			f.check(t)
		})
	}
}

// check fails unless the schedule runs as in the file, and shows the fault.
func (f faultFile) check(t *testing.T) {
	if f.fault == "" || f.why == "" {
		t.Error("the file does not say what the fault is, and why")
	}
	if !f.matches(f.replay) {
		t.Errorf("no step matches %q", f.shows)
	}
	if got := countSteps(f.replay); got != f.steps || got > mostSteps {
		t.Errorf("got %d steps, want the %d that the file says and %d at most", got, f.steps, mostSteps)
	}
	r := f.rerun(t)
	for _, d := range r.Defects {
		t.Errorf("it does not go as the file says: %s", d)
	}
	if got := r.Counterexamples[f.breaks].Verdict; got != f.verdict {
		t.Errorf("%s is %s, want it %s", f.breaks, got, f.verdict)
	}
}

// rerun runs the schedule again.
func (f faultFile) rerun(t *testing.T) (r explore.Result) {
	cfg, err := f.replay.Config()
	if err != nil {
		t.Fatal(err)
	}
	d := find(t, f.design)
	if cfg.Pool > 0 {
		return inChildProcess(t, d, bubble.Job{Replay: f.replay})
	}
	r, err = explore.Rerun(t.Context(), bubble.New(t), d, f.replay)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inChildProcess does the job in a process of its own, which is necessary if a pool is bounded: the
// client library keeps the timers of clients that wait for a connection for the whole program,
// and timers of one bubble are fatal in the next.
func inChildProcess(t *testing.T, d design.Design, job bubble.Job) explore.Result {
	t.Helper()
	job.Config.Design, job.Patience = design.Design{Name: d.Name, Claims: d.Claims}, time.Hour
	r, err := bubble.Run(t.Context(), job, silent)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found searches the first schedules for the fault of f. It returns no counterexample if there
// is none among them.
func (f faultFile) found(t *testing.T, cfg explore.Config, schedules int64) explore.Counterexample {
	t.Helper()
	if schedules == 0 {
		t.Fatal("the file does not say by which schedule it was found; hint: -find")
	}
	cfg.Schedules = schedules
	if cfg.Pool > 0 {
		return f.counterexample(inChildProcess(t, cfg.Design, bubble.Job{Config: cfg}))
	}
	return f.counterexample(run(t, cfg))
}

// counterexample is the counterexample in r for f's cell. For a schedule written by hand it is
// the first of the same guarantee.
func (f faultFile) counterexample(r explore.Result) (w explore.Counterexample) {
	if f.byHand == "" {
		return r.Counterexamples[f.breaks]
	}
	for _, found := range r.Findings { // in their order
		other := r.Counterexamples[found.Cell]
		if found.Cell.Guarantee == f.breaks.Guarantee && other.FoundAt > 0 && (w.FoundAt == 0 || other.FoundAt < w.FoundAt) {
			w = other
		}
	}
	return w
}

// TestFaultsAreFound repeats the quick searches, and finds the faults by the schedule in the
// table, equal to the file.
func TestFaultsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	for _, f := range faults(t) {
		if f.verdict == checker.Held || f.schedule > soonFound || f.after > soon() {
			continue
		}
		t.Run(f.name(), func(t *testing.T) {
			cfg, err := f.search()
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Pool > 0 {
				t.Skip("to shorten a schedule of six clients takes a minute")
			}
			cfg.Design = find(t, f.design)
			w := f.found(t, cfg, f.schedule)
			if w.FoundAt != f.schedule || w.Verdict != f.verdict {
				t.Errorf("found %s by schedule %d, want %s by %d as the file says; hint: -find", w.Verdict, w.FoundAt, f.verdict, f.schedule)
			}
			if diff := cmp.Diff(string(w.Replay.Text), string(f.replay.Text)); diff != "" && f.byHand == "" {
				t.Errorf("another schedule shows it (-got +file); hint: -find\n%s", diff)
			}
		})
	}
}

// findAnew searches as the head of f says and writes the schedule found into the file. A file
// that shows that a guarantee holds keeps its schedule and gets new steps; so does a schedule
// written by hand, which the search does not find.
func findAnew(t *testing.T, f faultFile) faultFile {
	f.steps = countSteps(f.replay)
	if f.verdict != checker.Held {
		w := f.searchAll(t)
		if f.schedule, f.after = w.FoundAt, w.FoundAfter; f.byHand == "" {
			f.replay, f.steps = w.Replay, countSteps(w.Replay)
		}
	}
	if err := os.WriteFile(f.path, f.text(), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

// searchAll searches, with one seed after the other if schedules are drawn, and records the
// seed.
func (f *faultFile) searchAll(t *testing.T) explore.Counterexample {
	cfg, err := f.search()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Design = find(t, f.design)
	w := searchFault(t, *f, cfg)
	for seed := 1; w.FoundAt == 0 && cfg.Strategy != explore.Exhaustive && seed <= mostSeeds; seed++ {
		flags, _, _ := strings.Cut(f.flags, " --seed")
		f.flags, cfg.Seed = fmt.Sprintf("%s --seed %d", flags, seed), uint64(seed)
		w = searchFault(t, *f, cfg)
	}
	if w.FoundAt == 0 {
		t.Fatalf("%s is not found to be %s", f.breaks, f.verdict)
	}
	return w
}

// searchFault runs ever more schedules to find one that shows the fault of f, beginning with
// the number needed before: later ones may show a violation that explains it. It returns no
// counterexample if there is none, or if another one came first.
func searchFault(t *testing.T, f faultFile, cfg explore.Config) (w explore.Counterexample) {
	most := int64(mostSchedules)
	if cfg.Strategy != explore.Exhaustive {
		most = mostDrawn
	}
	for n := max(f.schedule, 100); n <= most; n *= 10 {
		w := f.found(t, cfg, n)
		if w.FoundAt > 0 && w.Verdict == f.verdict {
			if f.matches(w.Replay) {
				return w
			}
			break
		}
	}
	return w
}

// TestFaultFilesAreRead checks that a head is read and written unchanged, and the errors for
// invalid ones.
func TestFaultFilesAreRead(t *testing.T) {
	const head = "# fault: it breaks\n# why: it is frail\n# found: --scenario contend --kinds die --faults 0; schedule 7; 0.1 s\n# steps: 3\n"
	f, err := parseFault("x", []byte(head+"# design: a/b\n# breaks: exclusion@outlived held\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := faultFile{
		path: "x", fault: "it breaks", why: "it is frail", flags: "--scenario contend --kinds die --faults 0",
		schedule: 7, after: 100 * time.Millisecond, steps: 3, design: "a/b", breaks: lockbench.Exclusion.At(lockbench.Outlived), verdict: checker.Held,
	}
	if diff := cmp.Diff(f, want, cmp.AllowUnexported(faultFile{})); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
	if got := string(f.text()); got != head {
		t.Errorf("got %q, want %q", got, head)
	}
	cfg, err := f.search()
	kinds := []fault.Kind{fault.DieBefore, fault.DieAfter}
	if diff := cmp.Diff(cfg.Kinds, kinds); diff != "" || err != nil || cfg.Faults != -1 || cfg.Seed != 1 {
		t.Errorf("got %+v, %v", cfg, err)
	}
	for _, bad := range []string{"# found: --scenario x; 7; 0.1 s\n", "# steps: many\n", "# found: --none 7; schedule 7; 0.1 s\n"} {
		if _, err := parseFault("x", []byte(bad)); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}
