package locktest

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/occupancy"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/locktest/internal/guard"
)

// A caseRun is one test case performed with a lock: several fixtures side by side, one record.
type caseRun struct {
	trial  *trial
	test   testCase
	guards []*guard.Guard // of the first fixture, then of the second...
	notes  notes

	result checker.Result
	broke  bool          // a performance broke the cell
	stood  time.Duration // how long the machine or the server stood still, in all performances
	left   string        // what abandoned acquires left behind, under cancel; empty for nothing
	err    error         // of lockbench
}

// tries is the number of times that a test case is performed while its cell stays untested, as it
// may on a busy machine.
const tries = 3

// run performs the test case and judges the record.
func (s *caseRun) run(ctx context.Context) {
	defer func() { s.doubt(s.doubtful()) }()
	for range tries {
		if s.err = s.perform(ctx); s.err != nil || ctx.Err() != nil {
			return
		}
		if s.result, s.err = judge(s.file()); s.err != nil {
			return
		}
		s.broke = s.broke || s.result.Cells()[s.test.cell].Verdict == checker.Broken
		if s.test.cell.Under.Has(lockbench.Cancel) {
			if s.left, s.err = leftTaken(s.file()); s.err != nil {
				return
			}
		}
		if s.spent() || s.doubtful() == "" && s.result.Cells().Touched(s.test.cell).Verdict != checker.Untested {
			return
		}
	}
}

// spent reports whether the test case cannot be performed again.
func (s *caseRun) spent() bool {
	for _, g := range s.guards {
		if g.Spent() {
			return true
		}
	}
	return false
}

func (s *caseRun) file() string { return s.trial.file(s.test) }

// limit returns the time that the test case may take: far longer than it needs.
func (s *caseRun) limit() time.Duration {
	t := s.trial.settings
	return 10*t.ttl + 4*t.tolerance + 4*t.patience + 4*t.vigil().wait()
}

// perform records the test case in its file.
func (s *caseRun) perform(ctx context.Context) (err error) {
	f, err := os.Create(s.file())
	if err != nil {
		return fmt.Errorf("record a history: %w", err)
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	out := bufio.NewWriter(f)
	recorder, err := history.NewRecorder(out, s.header())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit())
	defer cancel()
	fixtures := s.fixtures(ctx, recorder)
	watcher := standstill.Start(standstill.Config{Bound: standstill.BoundFor(s.trial.settings.ttl), Clock: s.trial.settings.clock, Ask: s.trial.settings.servers}.
		Record(recorder.Client(standstill.RecordedAs, standstill.RecordedAs)))
	for _, st := range fixtures {
		st.stood = func() time.Duration { return watcher.Sum().For }
	}
	s.test.runOn(fixtures)
	stood := watcher.Stop()
	s.stood += stood.For
	if ctx.Err() == context.DeadlineExceeded {
		s.notes.fail(s.overdue(stood))
	}
	ended := history.Trailer{EndNS: recorder.Now(), Ended: "operations", MonitorOverlaps: map[string]int64{}}
	for _, st := range fixtures {
		st.addOverlaps(&ended)
	}
	if err := recorder.Close(ended); err != nil {
		return err
	}
	return out.Flush()
}

// overdue returns the error of a test case that took too long. It is the lock's fault if at least
// half of the time was usable.
func (s *caseRun) overdue(stood standstill.Sum) error {
	if stood.For > s.limit()/2 {
		return fmt.Errorf("%w, not over after %v, for %v of which the machine or the server stood still", ErrUntested, s.limit(), stood.For.Round(time.Millisecond))
	}
	return fmt.Errorf("not over after %v", s.limit())
}

// addOverlaps adds the overlaps that the monitor of the fixture saw to the end of its record. The
// checker reports a contradiction if it has not found as many.
func (s *fixture) addOverlaps(end *history.Trailer) {
	if s.monitor != nil {
		maps.Copy(end.MonitorOverlaps, s.monitor.Overlaps())
		end.MonitorEntries += s.monitor.Entries()
	}
}

// runOn performs the test case on all fixtures at once.
func (p testCase) runOn(fixtures []*fixture) {
	var all sync.WaitGroup
	for _, s := range fixtures {
		all.Go(func() {
			defer s.contain()
			if p.run != nil {
				p.run(s)
			}
			if p.program != "" {
				s.takeTurns(p)
			}
		})
	}
	all.Wait()
}

func (s *caseRun) fixtures(ctx context.Context, recorder *history.Recorder) (fixtures []*fixture) {
	t := s.trial
	run := rand.Uint64() // the keys of an earlier performance are not used again
	for side := range t.sides(s.test) {
		st := &fixture{
			ctx: ctx, ttl: t.settings.ttl, unit: t.settings.unit, tolerance: t.settings.tolerance, timeout: t.settings.timeout, think: t.think, copy: side,
			key:   fmt.Sprintf("%s/%s/%x/1%s", t.keys, s.test.name, run, strings.Repeat("1", side)), // each name begins with the name before
			short: t.settings.short, can: t.abilities, notes: &s.notes,
			vigil: t.settings.vigil(), servers: t.settings.servers,
			random: rand.New(rand.NewPCG(t.settings.seed, uint64(side))),
			store:  backend.NewMemory(),
		}
		st.share(s.test.keys())
		if s.test.oddKeys() {
			st.nameOddly(s.guards[side*s.test.owners])
		}
		if !t.abilities.renews { // a lock may renew unseen with a lease shorter than its owner's last extend
			st.monitor = occupancy.New(st.run.Keys, t.abilities.reacquire == design.Nested)
		}
		for i := range s.test.owners {
			id := side*s.test.owners + i
			st.enlist(int32(id), s.guards[id], recorder)
		}
		fixtures = append(fixtures, st)
	}
	return fixtures
}

func (s *caseRun) header() history.Header {
	t := s.trial
	return history.Header{
		Design:       t.settings.name,
		Claims:       t.claims,
		Reacquire:    string(t.abilities.reacquire),
		RenewsUnseen: t.abilities.renews,
		ToleranceNS:  int64(t.settings.tolerance),
		WakesNS:      int64(t.settings.wakes),
		Exercises:    []lockbench.Cell{s.test.cell},
		Workload:     "locktest " + s.test.name,
		Params:       map[string]any{"ttl_ns": t.settings.ttl.Nanoseconds(), "clients": len(s.guards), "keys": t.sides(s.test) * s.test.keys()},
		Seed:         t.settings.seed,
		Faults:       s.test.faults,
		Server:       runinfo.Server{Kind: "external"},
		Environment: runinfo.Environment{
			OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(), Version: "unknown",
		},
	}
}

// judge judges a history as the command does.
func judge(file string) (checker.Result, error) {
	src, err := history.Open(file)
	if err != nil {
		return checker.Result{}, err
	}
	return checker.Check(src)
}
