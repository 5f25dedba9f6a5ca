package progress

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// broke is a run that broke owner-release seven times.
func broke() *results.Judged {
	return &results.Judged{Verdicts: checker.Result{Findings: []checker.CellFinding{
		{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Held, Violations: 0}},
		{Cell: lockbench.OwnerRelease.At(lockbench.Outlived), Finding: checker.Finding{Verdict: checker.Broken, Violations: 7}},
	}}}
}

// begin begins a run of a design without any progress.
func begin(p Runs, name string) {
	p.Sink().Begin(runner.Subject{Design: design.Design{Name: name}}, still)
}

// still is a run in which nothing happens.
func still() runner.Progress { return runner.Progress{} }

// stuck returns a table with one conclusion about all runs.
func stuck() *Table {
	return &Table{Names: []string{"family/lock", "c/d"}, Conclude: func(*results.Judged) *conclusion.Conclusion {
		return &conclusion.Conclusion{Word: conclusion.DoNotUse, Breach: conclusion.Stuck}
	}}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		table *Table
		want  string
	}{
		{nil, `server: private
[1/2] family/lock ...
[1/2] family/lock: 0 grants/s, broke owner-release@outlived
[2/2] c/d ...
[2/2] c/d: 0 grants/s, the disk is full
`},
		{stuck(), `server: private
design       conclusion                          grants/s      p99
family/lock  do not use: stuck                          -
c/d          do not use: stuck                          -
  the disk is full
`},
	} {
		var out bytes.Buffer
		p := OfRuns(&out, false, 2, tt.table)
		p.Say("server: %s", "private")
		begin(p, "family/lock")
		p.Sink().End(broke())
		begin(p, "c/d")
		p.Sink().End(&results.Judged{Err: errors.New("the disk is full")})
		p.Close()
		if out.String() != tt.want {
			t.Errorf("got:\n%s\nwant:\n%s", out.String(), tt.want)
		}
	}
}

func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		time.Sleep(10 * time.Second)
		for share, want := range map[float64]string{0: "", 0.25: " 30s left", 1: ""} {
			if got := left(started, share); got != want {
				t.Errorf("%v done in 10s: got %q, want %q", share, got, want)
			}
		}
	})
}

// TestNow checks that a run that takes long says how far it is.
func TestNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := OfRuns(&out, false, 1, stuck())
		p.Sink().Begin(runner.Subject{Design: design.Design{Name: "c/d"}}, func() runner.Progress {
			return runner.Progress{Elapsed: 10 * time.Second, Length: 40 * time.Second, Grants: 1000}
		})
		time.Sleep(lineInterval + time.Second)
		p.Close()
		if want := "[1/1] c/d                        100 grants/s, 0 violations, 25%\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

func TestRows(t *testing.T) {
	rows := stuck()
	rows.Conclude = func(*results.Judged) *conclusion.Conclusion { return nil }
	got := strings.Join(rows.lines("c/d", broke()), "\n")
	if want := "design       conclusion                          grants/s      p99\nc/d                                                     -"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	lines := NewLines(&out, 3)
	lines.redrawn, lines.table = true, stuck()
	b := &bar{Lines: lines}
	b.begin("a/b", still)
	b.end(broke())
	b.begin("c/d", func() runner.Progress { return runner.Progress{Violations: 2} })
	b.Say("interrupted")
	b.Close()
	b.Close() // again, as after an error: nothing is left to stop
	for _, want := range []string{"[1/3] a/b", "0 violations", "[2/3] c/d", "2 violations", "interrupted\n", "a/b          do not use: stuck                          -\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

func TestPermille(t *testing.T) {
	for _, c := range []struct {
		name string
		run  runner.Progress
		want int64
	}{
		{"before it began", runner.Progress{}, 0},
		{"without a duration", runner.Progress{Elapsed: time.Hour}, 0},
		{"past its duration", runner.Progress{Elapsed: time.Hour, Length: time.Minute}, 999},
		{"half-way", runner.Progress{Elapsed: time.Hour, Length: 2 * time.Hour}, 500},
	} {
		if got := permille(c.run); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestQuiet(t *testing.T) {
	var out bytes.Buffer
	p := OfRuns(&out, true, 1, nil)
	p.Say("x")
	begin(p, "a/b")
	p.Sink().End(broke())
	p.Close()
	if out.Len() != 0 {
		t.Errorf("got %q, want nothing", out.String())
	}
}

func TestAlarm(t *testing.T) {
	f := checker.CellFinding{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Counterexample: &checker.Counterexample{Key: "stock", Sentence: "client 0 and client 1 held it"}}}
	want := "generous: CLAIM BROKEN, exclusion, 1.5s into the run, key stock: client 0 and client 1 held it"
	if line := alarm("generous", f, 1500*time.Millisecond); line != want {
		t.Errorf("the alarm says %q, want %q", line, want)
	}
}
