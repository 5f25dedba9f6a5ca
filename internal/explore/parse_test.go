package explore

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

const sampleReplay = `lockbench replay 2
design setnx-getset/naive
definition {"two  spaces": 2}
scenario contend
clients 2
threads 1
pool 0
rounds 2
ttl 2s
wait 0s
skew 1s
seed 18446744073709551615
breaks exclusion@crash+skew broken

# c1 and c2 held the key at the same time
p2 skew -1s
c2 run acquire: SETNX job-1 1
c2 die-after EXPIRE job-1 2
time at 2.001000003s
server script-flush
c1 run late: SET job-1 "a b" px 2000
all stop
`

func TestReplayReadsWhatItWrites(t *testing.T) {
	s, err := parseReplay([]byte(sampleReplay))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Design:   design.Design{Name: "setnx-getset/naive", Definition: `{"two  spaces": 2}`},
		Scenario: "contend", Clients: 2, Threads: 1, Rounds: 2,
		TTL: 2 * time.Second, Skew: time.Second, Seed: 1<<64 - 1,
	}
	if diff := cmp.Diff(s.cfg, want, cmp.Comparer(func(a, b func()) bool { return true })); diff != "" {
		t.Errorf("header (-got +want):\n%s", diff)
	}
	if s.breaks.Cell != lockbench.Exclusion.At(lockbench.Crash|lockbench.Skew) || s.breaks.Verdict != checker.Broken {
		t.Errorf("got breaks %q %s", s.breaks.Cell, s.breaks.Verdict)
	}
	choices := []strategy.Choice{
		{Verb: strategy.VerbSkew, Actor: 3, At: -time.Second},
		{Verb: strategy.VerbRun, Actor: 1},
		{Verb: strategy.VerbDieAfter, Actor: 1},
		{Verb: strategy.VerbMove, Actor: strategy.NoActor, At: 2001000003},
		{Verb: strategy.VerbScriptFlush, Actor: strategy.NoActor},
		{Verb: strategy.VerbRun, Actor: 0},
		{Verb: strategy.VerbStop, Actor: strategy.NoActor},
	}
	for i, l := range s.lines {
		if l.choice != choices[i] {
			t.Errorf("step %d, %q: got %+v, want %+v", i+1, l, l.choice, choices[i])
		}
	}
	s.comment = "c1 and c2 held the key at the same time"
	if diff := cmp.Diff(string(s.text()), sampleReplay); diff != "" {
		t.Errorf("written again (-got +want):\n%s", diff)
	}
}

func TestReplayErrorsNameLineAndReason(t *testing.T) {
	header, _, _ := strings.Cut(sampleReplay, "\n\n")
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "it is empty"},
		{"other file", "{}\n", `line 1: "{}"; hint: a replay file begins with`},
		{"version 1", "lockbench replay 1\ndesign x\n", `line 1: "lockbench replay 1" is a version that this lockbench does not read, it reads "lockbench replay 2"; hint: lockbench of commit 3ca9b9fc, before 0.1.0, reads it`},
		{"field unknown", replayMagic + "\ncolour red\n", `line 2: no field is called "colour"`},
		{"field twice", replayMagic + "\nseed 1\nseed 2\n", "line 3: seed is there twice"},
		{"field empty", replayMagic + "\nseed\n", "line 2: seed has no value"},
		{"number", replayMagic + "\nclients two\n", `line 2: clients "two": invalid syntax`},
		{"too many", replayMagic + "\nclients 65\n", `line 2: clients "65": hint: from 1 to 64`},
		{"duration", replayMagic + "\nttl 2\n", `line 2: ttl "2": not a duration`},
		{"negative", replayMagic + "\nwait -1s\n", `line 2: wait "-1s": hint: not below zero`},
		{"guarantee", replayMagic + "\nbreaks glass\n", `line 2: breaks "glass": unknown guarantee`},
		{"condition", replayMagic + "\nbreaks exclusion@rain\n", `line 2: breaks "exclusion@rain": "exclusion@rain": unknown condition`},
		{"verdict", replayMagic + "\nbreaks exclusion maybe\n", `"maybe" is no verdict`},
		{"verdict without end", replayMagic + "\nbreaks exclusion " + strings.Repeat("\x89", 400) + "\n", `...`},
		{"two verdicts", replayMagic + "\nbreaks exclusion broken held\n", `more than a cell and a verdict`},
		{"lease too long", replayMagic + "\nttl 25h\n", `line 2: ttl "25h": too long; hint: up to 24h`},
		{"no seed", strings.Replace(sampleReplay, "seed 18446744073709551615\n", "", 1), `the header has no "seed"`},
		{"one word", header + "\n\nc1\n", `line 15: "c1"; hint: a step says who acts`},
		{"verb", header + "\n\nc1 sleep\n", `line 15: "sleep" is nothing that can be done`},
		{"nobody", header + "\n\nc3 run GET x\n", `line 15: nobody is called "c3"; hint: clients are c1 to c2`},
		{"time cannot", header + "\n\nc1 at 1s\n", `line 15: "c1" cannot at; hint: time can`},
		{"when", header + "\n\ntime at noon\n", `line 15: time "noon": not a duration`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadReplay(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestReplayOfSeveralThreads(t *testing.T) {
	file := strings.NewReplacer("clients 2", "clients 4", "threads 1", "threads 2", "p2 skew -1s", "p2.c3 run GET x", "c2 ", "p1.c2 ", "c1 run", "p2 cut").Replace(sampleReplay)
	s, err := parseReplay([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var actors []int
	for _, l := range s.lines {
		actors = append(actors, l.choice.Actor)
	}
	if want := []int{2, 1, 1, strategy.NoActor, strategy.NoActor, 5, strategy.NoActor}; !cmp.Equal(actors, want) {
		t.Errorf("actors: got %v, want %v", actors, want)
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(sampleReplay))
	f.Add([]byte(replayMagic + "\nseed 1\n\nc1 run x"))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := parseReplay(file)
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 1000 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			return
		}
		again, err := parseReplay(s.text())
		if err != nil {
			t.Fatalf("its own text is not read: %v\n%s", err, s.text())
		}
		if !bytes.Equal(again.text(), s.text()) {
			t.Errorf("read and written again (-again +first):\n%s", cmp.Diff(string(again.text()), string(s.text())))
		}
	})
}
