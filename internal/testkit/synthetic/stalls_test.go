package synthetic_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// stalledRuns is how many histories of a sound lock with standstills are judged, and five times as
// many as of each mutant.
func stalledRuns(t *testing.T) int {
	return longtest.Size(t, "STALLED", longtest.Times(300, 3000))
}

// stalls is the n-th Stalled: any lease of 50 ms to 2 s, standstills of any party for 0.3 to 3 s.
func stalls(n int, of Fault) Stalled {
	lease := []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}[n/3%6]
	return Stalled{
		Seed: uint64(n), Lease: lease, Fault: of,
		Driver: n%3 != 1, Server: n%3 != 0,
		Shortest: 300 * time.Millisecond, Longest: 3 * time.Second, Every: time.Second + 2*lease,
		Lasting: 8*time.Second + 6*lease, Bound: min(20*time.Millisecond, lease/4),
	}
}

func who(s Stalled) string {
	switch {
	case s.Driver && s.Server:
		return "both"
	case s.Driver:
		return "lockbench"
	}
	return "server"
}

// judged is the checker's result for a history, written and read as a file.
func judged(t *testing.T, h StalledHistory) checker.Result {
	t.Helper()
	var file bytes.Buffer
	w, err := history.NewWriter(&file, h.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range h.Ops {
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(history.End{Trailer: history.Trailer{Ops: int64(len(h.Ops))}}); err != nil {
		t.Fatal(err)
	}
	src, err := history.NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := checker.Check(src)
	if err != nil || len(result.Defects) > 0 {
		t.Fatalf("error %v, defects %v", err, result.Defects)
	}
	return result
}

// against lists the cells with violations of claims.
func against(r checker.Result) (cells []string) {
	for _, f := range r.Findings {
		if f.Against > 0 {
			cells = append(cells, fmt.Sprintf("%s %d/%d", f.Cell, f.Against, f.Exposure))
		}
	}
	return cells
}

// counted is a row of the table.
type counted struct{ histories, stood, overlaps, accused, strict int }

// log logs the row.
func (c *counted) log(t *testing.T, name, who string) {
	t.Helper()
	strict := "-"
	if name == "sound" {
		strict = fmt.Sprint(c.strict)
	}
	t.Logf("| %s | %s | %d | %d | %d | %d | %s |", name, who, c.histories, c.stood, c.overlaps, c.accused, strict)
}

// unknown is h without its recorded standstills.
func unknown(h StalledHistory) StalledHistory {
	h.Ops = slices.DeleteFunc(slices.Clone(h.Ops), func(op *history.Op) bool {
		return op.Kind == history.Fault && fault.EventOf(op.Note).Act == fault.StandsStill
	})
	return h
}

func (c *counted) add(h StalledHistory, accused bool) {
	c.histories++
	c.stood += h.Stood
	if h.Overlaps > 0 {
		c.overlaps++
	}
	if accused {
		c.accused++
	}
}

// TestSoundLockThatStandsStill: nothing counts against a lock that does nothing wrong,
// however its machines stand still.
func TestSoundLockThatStandsStill(t *testing.T) {
	if testing.Short() {
		t.Skip("judges many histories, in one goroutine")
	}
	rows := map[string]*counted{"lockbench": {}, "server": {}, "both": {}}
	for n := range stalledRuns(t) {
		s := stalls(n, Sound)
		h := s.Make()
		result := judged(t, h)
		found := against(result)
		name := who(s)
		rows[name].add(h, len(found) > 0)
		if len(against(judged(t, unknown(h)))) > 0 {
			rows[name].strict++
		}
		if len(found) > 0 {
			t.Errorf("history %d, lease %v, %s: %s", n, s.Lease, name, strings.Join(found, ", "))
		}
		if result.Grants == 0 || result.Standstills.Times == 0 && h.Stood > 0 {
			t.Errorf("history %d: %d grants, %d standstills; want some", n, result.Grants, result.Standstills.Times)
		}
	}
	for name, r := range rows {
		if r.strict == 0 {
			t.Errorf("%s: no history needs its standstills; want some", name)
		}
	}
	t.Log("| lock | stands still | histories | standstills | two inside | accused | accused if nobody had noticed |")
	for _, name := range []string{"lockbench", "server", "both"} {
		rows[name].log(t, "sound", name)
	}
}

// least is the percentage of histories with an effective fault in which it must be found. The first
// four faults let two clients work at once. The last two are found only if nothing else may explain
// them: a standstill, or a call without an answer that may have taken the key.
var least = map[Fault]int{
	NeverRenews: 95, RenewsLate: 95, FreesAnybody: 95, GrantsHeld: 95,
	FailsFlushed: 95, RefusesFree: 50, WedgesRelease: 60,
}

// matters reports whether the fault of a history made a difference.
func matters(of Fault, h StalledHistory) bool {
	switch of {
	case NeverRenews, RenewsLate:
		return h.Overlaps > 0
	case FreesAnybody, GrantsHeld:
		return h.Harmed > 0
	}
	return h.Mattered > 0
}

// TestMutantsThatStandStill: a broken lock is found as often as without standstills.
func TestMutantsThatStandStill(t *testing.T) {
	if testing.Short() {
		t.Skip("judges many histories, in one goroutine")
	}
	for _, of := range Faults() {
		t.Run(string(of), func(t *testing.T) {
			shown := counted{}
			for n := range stalledRuns(t) / 5 {
				if h := stalls(n, of).Make(); matters(of, h) {
					shown.add(h, len(against(judged(t, h))) > 0)
				}
			}
			shown.log(t, string(of), "any")
			if shown.histories == 0 || shown.accused*100 < shown.histories*least[of] {
				t.Errorf("found in %d of %d, want %d %%", shown.accused, shown.histories, least[of])
			}
		})
	}
}
