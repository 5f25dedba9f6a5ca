package explore_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
)

// A lost lock of lua-token/token is released without a word. Waiting is a matter of
// the scenario's, cancelling one of the schedule's.
const lostUnnoticed = `lockbench replay 2
design lua-token/token
scenario contend
clients 2
threads 1
pool 0
rounds 1
ttl 2s
wait 0s
skew 1s
seed 0
breaks loss-reported@outlived broken

c1 run acquire
# c1 is slow
time at 2.001000003s
c2 run acquire
c1 run release
all stop
`

func rerun(t *testing.T, file string) (explore.Result, error) {
	t.Helper()
	replay, err := explore.ReadReplay(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := replay.Config()
	if err != nil {
		t.Fatal(err)
	}
	return explore.Rerun(t.Context(), bubble.New(t), find(t, cfg.Design.Name), replay)
}

func TestRerun(t *testing.T) {
	for _, c := range []struct {
		name string
		old  string
		new  string
		want string // of the first defect
	}{
		{"by hand, without commands", "", "", ""},
		{"another command", "c1 run acquire", "c1 run acquire: GET x", `step 1 was "c1 run acquire: GET x" in the file and is "c1 run acquire: EVALSHA`},
		{"a step that cannot be made", "c1 run release", "c1 run release\nc1 run release", `"c1 run release", cannot be made; what can: "c2 run release"`},
		{"another time", "at 2.001000003s", "at 2.1s", `"time at 2.1s", cannot be made`},
		{"a client that has nothing to do", "c1 run release", "c1 lost-reply GET x", `in the file and is`},
		{"nothing broken", "c1 run release\n", "", `the file says that loss-reported@outlived is broken; it is untested`},
		{"too short", "all stop\n", "", "the schedule goes on after step 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := rerun(t, strings.Replace(lostUnnoticed, c.old, c.new, 1))
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(r.Defects, "\n"); !strings.Contains(all, c.want) || c.want == "" && all != "" {
				t.Errorf("defects: got\n%s\nwant %s", all, c.want)
			}
		})
	}
}

// TestWrittenReplayIsExact has Run write the file that Rerun follows to the letter.
func TestWrittenReplayIsExact(t *testing.T) {
	r := run(t, explore.Config{Design: find(t, "lua-token/token"), Strategy: explore.Exhaustive, Schedules: 100_000, Faults: -1, Moves: 1})
	w := r.Counterexamples[lockbench.LossReported.At(lockbench.Outlived)]
	if w.Verdict != checker.Broken {
		t.Fatalf("loss-reported is %s", w.Verdict)
	}
	t.Logf("\n%s", w.Replay.Text)
	again, err := rerun(t, string(w.Replay.Text))
	if err != nil || len(again.Defects) > 0 {
		t.Errorf("got %v, defects %q", err, again.Defects)
	}
	if got := again.Counterexamples[lockbench.LossReported.At(lockbench.Outlived)]; got.Verdict != checker.Broken || got.Sentence != w.Sentence {
		t.Errorf("got %s: %s, want %s: %s", got.Verdict, got.Sentence, w.Verdict, w.Sentence)
	}
}
