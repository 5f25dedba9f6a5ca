package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/lib/spool"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// TestLiveJudgementIsThatOfTheFile runs every design, judges the file afterwards, and checks that
// the result equals the live one.
func TestLiveJudgementIsThatOfTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	var s session
	for _, d := range impls.All() {
		s.plan.Subjects = append(s.plan.Subjects, Subject{Design: d})
	}
	opened, err := openServices(t.Context(), s.plan.Subjects, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.services = opened
	t.Cleanup(func() { _ = s.closeServices() })
	s.histories, s.plan.Workload = &histories{dir: t.TempDir()}, workloads.Must("oversell")
	o := workloads.Defaults()
	o.Clients, o.Keys, o.TTL, o.Wait = 8, 2, 100*time.Millisecond, 50*time.Millisecond
	o.Duration, o.Warmup, o.Slow, o.Seed = 400*time.Millisecond, 0, 0.05, 7
	s.plan.Options = o
	var violations atomic.Int64
	t.Run("designs", func(t *testing.T) {
		for _, of := range s.plan.Subjects {
			t.Run(of.Design.Name, func(t *testing.T) {
				t.Parallel()
				violations.Add(sameWhenJudgedAgain(t, s, of))
			})
		}
	})
	if violations.Load() == 0 {
		t.Error("nothing was broken in any of them, which says little")
	}
}

// sameWhenJudgedAgain runs a design, compares its live judgement with one of the file, and returns
// the number of violations that the sink received.
func sameWhenJudgedAgain(t *testing.T, s session, of Subject) int64 {
	if err := s.permits(t.Context())(&of); err != nil {
		t.Skip(err)
	}
	options := &s.plan.Options
	options.TTL = max(options.TTL, of.Design.LeaseUnit)
	if of.Design.Tolerance > 0 || of.Design.Lease(options.TTL) >= time.Second {
		options.Duration = 2500 * time.Millisecond
	}
	told := map[lockbench.Cell]bool{}
	s.sink = join(Sink{Found: func(f checker.CellFinding, _ time.Duration) { told[f.Cell] = true }})
	r := s.newRun(of)
	o, err := s.record(t.Context(), r)
	if err := errors.Join(err, o.failed, o.unreadable); err != nil {
		t.Fatal(err)
	}
	again, err := Judge(s.histories.path(of.Design.Name), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shownResult(t, o.judged), shownResult(t, again)); diff != "" {
		t.Errorf("results (-live +judged again):\n%s", diff)
	}
	if o.judged.Verdicts.Ops == 0 || o.judged.End.Partial {
		t.Errorf("%d operations judged, end %+v; want some, and a whole history", o.judged.Verdicts.Ops, o.judged.End)
	}
	for cell := range told {
		if o.judged.Verdicts.Find(cell).Verdict != checker.Broken {
			t.Errorf("%s was told broken and is %v", cell, o.judged.Verdicts.Find(cell).Verdict)
		}
	}
	return r.progress.Violations.Load()
}

// shownResult returns the verdicts and all that reports show of a judgement, except for figures
// that depend on the speed of the machine: the number of keys that porcupine judged, and the delay
// of the judgement.
func shownResult(t *testing.T, j results.Judged) any {
	var text bytes.Buffer
	r := results.New([]results.Judged{j}, nil)
	if err := reports.Write(&text, reports.JSON, &r, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal(text.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	for _, ofTime := range []string{"cross_checked", "judged_within_ns"} {
		delete(shown["runs"].([]any)[0].(map[string]any), ofTime)
	}
	j.Verdicts.CrossChecked = 0
	return []any{shown, j.Verdicts, j.Header, j.End}
}

// breach records two clients that hold one key at the same time.
func breach(t *testing.T, rec *history.Recorder) {
	t.Helper()
	for id := range int32(2) {
		locker := rec.Client(id, id).Locker(generous{})
		if _, err := locker.Acquire(t.Context(), "stock", lockbench.Options{TTL: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = rec.Client(2, 2).Locker(generous{}).Acquire(t.Context(), "stock", lockbench.Options{TTL: time.Hour})
}

// TestBreachIsToldWhileTheRunGoesOn checks that a sink receives a violation during the recording,
// which ends only after that. The history has just six events.
func TestBreachIsToldWhileTheRunGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "h.lbh")
	spool, err := spool.New(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, settled := make(chan checker.CellFinding, 9), make(chan struct{}, 1)
	progress := &load.Progress{}
	l := judgeLive(spool, path, liveRun{progress: progress, sink: join(Sink{
		Found: func(f checker.CellFinding, _ time.Duration) { found <- f },
		SoFar: func(so Snapshot) {
			if so.checker.Violations() > 0 && len(settled) == 0 {
				settled <- struct{}{}
			}
		},
	})})
	rec, err := history.NewRecorder(spool, history.Header{Design: "generous", Claims: lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}}})
	if err != nil {
		t.Fatal(err)
	}
	breach(t, rec)
	f := <-found
	if f.Cell != lockbench.Exclusion.At(0) || !f.Claimed || f.Against == 0 || f.Counterexample == nil || f.Counterexample.Key != "stock" {
		t.Errorf("told of %+v, want a breach of exclusion on key stock", f)
	}
	<-settled // thresholds are judged although there are few events and no more come
	if progress.Violations.Load() == 0 {
		t.Error("the progress shows no violation")
	}
	if err := rec.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	j, err := l.wait()
	if err != nil || j.Verdicts.Find(lockbench.Exclusion.At(0)).Verdict != checker.Broken || j.Err != nil {
		t.Errorf("judged %+v, errors %v and %v; want exclusion broken", j.Verdicts.Findings, err, j.Err)
	}
}

// TestAStalledJudgementHoldsUpNoClient checks that a recording continues while a sink blocks, and
// that all of it is judged afterwards.
func TestAStalledJudgementHoldsUpNoClient(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "h.lbh")
	spool, err := spool.New(path, 1000) // the rest is kept until it is read
	if err != nil {
		t.Fatal(err)
	}
	stalled, over, events := make(chan struct{}, 9), make(chan struct{}), 0
	l := judgeLive(spool, path, liveRun{progress: &load.Progress{}, sink: join(Sink{
		Found: func(checker.CellFinding, time.Duration) {
			stalled <- struct{}{}
			<-over
		},
		Event: func(history.Event) { events++ },
	})})
	rec, err := history.NewRecorder(spool, history.Header{Design: "d"})
	if err != nil {
		t.Fatal(err)
	}
	breach(t, rec)
	<-stalled
	one := rec.Client(7, 7)
	for range 50_000 {
		one.Event(history.Pause, "", "standing still")
	}
	if err := rec.Close(history.Trailer{}); err != nil {
		t.Fatal(err)
	}
	close(over)
	j, err := l.wait()
	if err != nil || j.Err != nil || j.End.Partial || events < 50_000 {
		t.Errorf("%d events judged, end %+v, errors %v and %v; want all, and no error", events, j.End, err, j.Err)
	}
}

// TestOnlyTheBeginningIsKept checks that the history of a long run is judged whole, but only its
// beginning kept, and that only if it shows a violation.
func TestOnlyTheBeginningIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		breaks bool
	}{{"nothing broke", false}, {"something broke in it", true}} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.lbh")
			spool, err := spool.New(path, 20_000)
			if err != nil {
				t.Fatal(err)
			}
			found := make(chan checker.CellFinding, 99)
			l := judgeLive(spool, path, liveRun{progress: &load.Progress{}, sink: join(Sink{Found: func(f checker.CellFinding, _ time.Duration) { found <- f }})})
			rec, err := history.NewRecorder(spool, history.Header{Design: "d"})
			if err != nil {
				t.Fatal(err)
			}
			if c.breaks {
				breach(t, rec)
				<-found
			}
			one := rec.Client(7, 7)
			for range 200_000 {
				one.Event(history.Pause, "", "standing still")
			}
			if err := rec.Close(history.Trailer{}); err != nil {
				t.Fatal(err)
			}
			j, err := l.wait()
			if err != nil || j.End.Partial || spool.Whole() {
				t.Fatalf("error %v, end %+v, whole %v; want a judgement of all, and part of it kept", err, j.End, spool.Whole())
			}
			if kept := j.History != ""; kept != c.breaks || len(j.Notes) != 1 {
				t.Errorf("history %q, notes %q; want it kept: %v, and that to be said", j.History, j.Notes, c.breaks)
			}
			again, err := Judge(path, nil)
			if err != nil || !again.End.Partial || (again.Verdicts.Find(lockbench.Exclusion.At(0)).Verdict == checker.Broken) != c.breaks {
				t.Errorf("judged again: error %v, end %+v, exclusion %v", err, again.End, again.Verdicts.Find(lockbench.Exclusion.At(0)).Verdict)
			}
		})
	}
}

// TestLiveJudgementWithoutARun checks the judgement if nothing was recorded, because the set-up of
// the run failed.
func TestLiveJudgementWithoutARun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "h.lbh")
	spool, err := spool.New(path, keptHistory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := judgeLive(spool, path, liveRun{sink: join()}).wait(); err == nil {
		t.Error("an empty history was judged")
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

// generous is a lock that grants every acquire.
type generous struct{}

func (generous) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	return generous{}, nil
}

func (generous) Key() string                   { return "stock" }
func (generous) Release(context.Context) error { return nil }
