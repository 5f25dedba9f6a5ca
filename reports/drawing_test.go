package reports

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

func TestCounterexamplePicture(t *testing.T) {
	w := &checker.Counterexample{
		Holds: []checker.CounterexampleHold{
			{Hold: 1, Client: 5, Granted: 100, Until: 1000, End: 1000, EndedBy: "validity"},
			{Hold: 2, Client: 9, Granted: 600, Until: 1500, End: 1300, EndedBy: "release"},
		},
		Ops: []history.Op{
			{Kind: history.Acquire, Outcome: history.OK, Client: 5, Hold: 1, Call: 10, Return: 100, Attempts: 3, Attempt: history.NoStamp, Granted: 900},
			{Kind: history.Acquire, Outcome: history.OK, Client: 9, Hold: 2, Call: 590, Return: 600, Attempt: history.NoStamp, Granted: 900},
			{Kind: history.Release, Outcome: history.OK, Client: 5, Hold: 1, Call: 1200, Return: 1210},
			{Kind: history.Release, Outcome: history.Unknown, Client: 9, Hold: 2, Call: 1300, Return: history.Never},
		},
	}
	got := newTimeline(w, "")
	want := &document.Timeline{
		Lanes: []document.Lane{
			{Name: "client 5",
				Bars:  []document.Bar{{Kind: document.Within, From: 100, To: 1000}, {Kind: document.Past, From: 1000, To: 1200}, {Kind: document.Waiting, From: 10, To: 100}},
				Marks: []document.Mark{{Sign: "G", At: 100, To: 100}, {Sign: "|", At: 1000, To: 1000}, {Sign: "R", At: 1200, To: 1210}}},
			{Name: "client 9",
				Bars:  []document.Bar{{Kind: document.Within, From: 600, To: 1300}, {Kind: document.Waiting, From: 590, To: 600}},
				Marks: []document.Mark{{Sign: "G", At: 600, To: 600}, {Sign: "R", At: 1300, To: 1300, Bad: true}}},
		},
		Overlaps: []document.Overlap{{From: 600, To: 1000, Within: true, Lanes: [2]int{0, 1}}, {From: 1000, To: 1200, Lanes: [2]int{0, 1}}},
		Entries: []document.Entry{
			{At: 100, Lane: "client 5", Words: "granted a lease of 900ns, having waited 90ns"},
			{At: 600, Lane: "client 9", Words: "granted a lease of 900ns, having waited 10ns"},
			{At: 1000, Lane: "client 5", Words: "lease over"},
			{At: 1200, Lane: "client 5", Words: "release: answered ok after 10ns"},
			{At: 1300, Lane: "client 9", Words: "release: no answer"},
		},
	}
	var says []string
	wordless(got, &says)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	all := strings.Join(says, "\n")
	for _, want := range []string{
		"client 5 holds the lock for 900ns, ended by the end of the lease",
		"client 5 works on past its lease for 200ns",
		"client 9 holds the lock for 700ns, ended by release; its lease had 200ns to go",
		"client 5 waits 90ns for its grant, in 3 tries",
		"client 9: release: no answer",
		"client 5 and client 9 both hold the lock, within their leases, for 400ns",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q; what is said:\n%s", want, all)
		}
	}
	if p := newTimeline(&checker.Counterexample{}, ""); p.Drawable() {
		t.Errorf("got %+v of an empty counterexample, want nothing", p)
	}
}

// wordless moves the words of a picture to says.
func wordless(p *document.Timeline, says *[]string) {
	take := func(s *string) { *says = append(*says, *s); *s = "" }
	for i := range p.Lanes {
		for j := range p.Lanes[i].Bars {
			take(&p.Lanes[i].Bars[j].Says)
		}
		for j := range p.Lanes[i].Marks {
			take(&p.Lanes[i].Marks[j].Says)
		}
	}
	for i := range p.Overlaps {
		take(&p.Overlaps[i].Says)
	}
}

func TestSchedulePicture(t *testing.T) {
	steps := []results.Step{
		{Client: "c1", Command: "acquire: SETNX job 1", Reply: "1", Holders: []string{"c1"}},
		{Client: "time", Command: "passes, to 2s", Holders: []string{"c1"}},
		{At: 2e9, Client: "c2", Command: "acquire: SETNX job 1", Reply: "1", Holders: []string{"c1", "c2"}},
		{At: 2e9, Client: "c1", Command: "release: DEL job", Fault: "die-before", Holders: []string{"c2"}},
	}
	got := stepsTimeline(steps, "")
	var says []string
	wordless(got, &says)
	want := &document.Timeline{
		Steps: true,
		Lanes: []document.Lane{
			{Name: "c1", Bars: []document.Bar{{Kind: document.Believes, From: 0, To: 3}}, Marks: []document.Mark{{Sign: "SETNX", At: 0, To: 0}, {Sign: "! die-before", At: 3, To: 3, Bad: true}}},
			{Name: "time", Marks: []document.Mark{{Sign: "passes", At: 1, To: 1}}},
			{Name: "c2", Bars: []document.Bar{{Kind: document.Believes, From: 2, To: 4}}, Marks: []document.Mark{{Sign: "SETNX", At: 2, To: 2}}},
		},
		Overlaps: []document.Overlap{{From: 2, To: 3, Within: true, Lanes: [2]int{0, 2}}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestLongEvidence checks that a long counterexample is cut.
func TestLongEvidence(t *testing.T) {
	w := overlappingCounterexample(t)
	holds := len(newTimeline(w, "").Overlaps)
	for len(w.Ops) < 2*maxTold {
		w.Ops = append(w.Ops, w.Ops[0])
	}
	if d := newTimeline(w, ""); len(d.Entries) < maxTold || d.More != maxTold || len(d.Overlaps) == 0 || holds == 0 {
		t.Errorf("got %d operations, %d more and %d overlaps, want %d of each and the overlap", len(d.Entries), d.More, len(d.Overlaps), maxTold)
	}
}

func overlappingCounterexample(t *testing.T) *checker.Counterexample {
	t.Helper()
	j, err := overlapping()
	if err != nil {
		t.Fatal(err)
	}
	return j.Verdicts.Find(exclusive).Counterexample
}
