package runner_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// part returns the judgement of part n of two, changed.
func part(n int, change func(*results.Judged)) results.Judged {
	j := results.Judged{History: []string{"a.lbh", "b.lbh"}[n], Header: history.Header{
		Design: "d", Workload: "mutex", Seed: 1, Started: "2026-01-02T03:04:05Z", Environment: runinfo.Environment{Version: "1", CPUs: n},
		Share: runinfo.Share{Index: n, Of: 2},
	}}
	j.End.Trailer.EndNS = 1e9
	if change != nil {
		change(&j)
	}
	return j
}

// TestJoin checks which parts are parts of one run, and what is said of those that are not.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*results.Judged)
		err    string
	}{
		{"of another machine", nil, ""},
		{"of another lockbench", func(j *results.Judged) { j.Header.Environment.Version = "2" }, "b.lbh: lockbench 2 made it, and 1 made a.lbh"},
		{"with another seed", func(j *results.Judged) { j.Header.Seed = 2 }, "b.lbh: seed is 2, and 1 in a.lbh"},
		{"with other claims", func(j *results.Judged) { j.Header.AssumedClaims = true }, "b.lbh: assumed_claims"},
		{"of three", func(j *results.Judged) { j.Header.Share.Of = 3 }, "b.lbh: share is"},
		{"twice", func(j *results.Judged) { j.Header.Share.Index = 0 }, "both are part 1/2"},
		{"the whole run", func(j *results.Judged) { j.Header.Share = runinfo.Share{} }, "b.lbh: it is no part of a run"},
	} {
		runs, err := runner.Join([]results.Judged{part(0, nil), part(1, c.change)})
		if c.err == "" {
			if err != nil || len(runs) != 1 || runs[0].Verdicts.Partial || !runs[0].Header.Share.Whole() || len(runs[0].Machines) != 2 || len(runs[0].Notes) != 1 {
				t.Errorf("a part %s: error %v, runs %+v; want one that is whole, and a note", c.name, err, runs)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("a part %s: error %v, want %q", c.name, err, c.err)
		}
	}
}

// TestJoinOfApart checks that a missing part makes a run partial, and that parts which ran one after the
// other are noted.
func TestJoinOfApart(t *testing.T) {
	runs, err := runner.Join([]results.Judged{part(1, nil)})
	if err != nil || !runs[0].Verdicts.Partial || !strings.Contains(runs[0].Verdicts.Why, "part 1/2") {
		t.Errorf("error %v, %+v; want a partial run without part 1/2", err, runs)
	}
	runs, err = runner.Join([]results.Judged{part(0, nil), part(1, func(j *results.Judged) { j.Header.Started = "2026-01-02T03:04:06Z" })})
	if err != nil || len(runs[0].Notes) != 2 || !strings.Contains(runs[0].Notes[1], "for 0s of 2s") || runs[0].Header.Started != "2026-01-02T03:04:05Z" {
		t.Errorf("error %v, %+v; want a note on parts that did not run together", err, runs)
	}
}

// TestJoinOfSharedKeys checks the note on parts that use the same keys.
func TestJoinOfSharedKeys(t *testing.T) {
	others := func(j *results.Judged) { j.Header.Others = true }
	runs, err := runner.Join([]results.Judged{part(0, others), part(1, others)})
	if err != nil || len(runs[0].Notes) != 1 || !strings.Contains(runs[0].Notes[0], "2 machines competed for the same keys") {
		t.Errorf("error %v, %+v", err, runs)
	}
}

// TestJoinOfFaults checks that a fault of a server, which meets all parts at once, counts once, and that faults
// of clients add up.
func TestJoinOfFaults(t *testing.T) {
	with := func(restarts, held, crashes int64) func(*results.Judged) {
		return func(j *results.Judged) {
			j.End.Trailer.Faults = []runinfo.FaultExposure{
				{Fault: "restart,at=1s", Kind: "restart", Occurrences: restarts, MetHeld: held},
				{Fault: "crash,p=1", Kind: "crash", Occurrences: crashes, MetHeld: crashes},
			}
		}
	}
	runs, err := runner.Join([]results.Judged{part(0, with(7, 2, 3)), part(1, with(7, 5, 4))})
	if err != nil {
		t.Fatal(err)
	}
	got := runs[0].End.Trailer.Faults
	if len(got) != 2 || got[0].Occurrences != 7 || got[0].MetHeld != 5 || got[1].Occurrences != 7 || got[1].MetHeld != 7 {
		t.Errorf("%+v", got)
	}
}
