package checker

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker/internal/crosscheck"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

var histories = flag.Int("histories", longtest.Times(6000, 30_000), "random histories on which sweep, definition and porcupine must agree; a tenth of them with -short")

var from = flag.Int("from", 0, "the number of the first of them")

// verdicts are the three judges' answers for one history: is exclusion sound?
type verdicts struct{ sweep, definition, porcupine bool }

func judge(m memory) verdicts {
	c := New(m.header)
	var calls []*history.Op
	var departed []*history.Op
	for ev := range m.Events() {
		c.Add(ev)
		switch {
		case ev.Phase == history.Return:
		case ev.Op.Kind == history.Death:
			departed = append(departed, ev.Op)
		default:
			calls = append(calls, ev.Op)
		}
	}
	c.settle(c.key("k"), interval.Forever)
	segments := crosscheck.Segments(calls, departed, interval.RulesOf(m.header))
	linearizable, _ := crosscheck.Linearizable(segments, 0) // however long it takes
	return verdicts{
		sweep:      c.key("k").conflicts == 0,
		definition: !crosscheck.InConflict(segments),
		porcupine:  linearizable,
	}
}

// TestMain judges fewer histories in short runs, which are the runs under the race
// detector: except for [Parallel] judging is one goroutine's work, and ten times slower
// there. Many short histories are much garbage beside few live objects, so a rare garbage
// collection halves the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1600)
	}
	if testing.Short() {
		*histories /= 10
	}
	os.Exit(m.Run())
}

// TestAgreement compares the three judges on random histories. Run it with
// -histories=10000000 -timeout=2h before changing what a must-hold interval is.
func TestAgreement(t *testing.T) {
	sound := 0
	for seed := *from; seed < *from+*histories; seed++ {
		m, ops := generate(rand.New(rand.NewPCG(uint64(seed), 1)))
		v := judge(m)
		if v.sweep != v.definition || v.definition != v.porcupine {
			t.Fatalf("seed %d (%s): %+v\n%s", seed, m.header.Reacquire, v, describe(ops))
		}
		if v.sweep {
			sound++
		}
	}
	t.Logf("agreed on %d histories, %d of them sound", *histories, sound)
	if sound == 0 || sound == *histories {
		t.Errorf("all histories got one verdict: the generator tests nothing")
	}
}

// FuzzAgreement is TestAgreement with the choices made by the fuzzer.
func FuzzAgreement(f *testing.F) {
	f.Add(uint64(1), []byte("lockbench"))
	f.Fuzz(func(t *testing.T, seed uint64, choices []byte) {
		m, ops := generate(rand.New(&chosen{choices: choices, rest: rand.NewPCG(seed, 2)}))
		v := judge(m)
		if v.sweep != v.definition || v.definition != v.porcupine {
			t.Fatalf("%s: %+v\n%s", m.header.Reacquire, v, describe(ops))
		}
	})
}

// chosen draws from the fuzzer's bytes first, so that it can steer.
type chosen struct {
	choices []byte
	rest    *rand.PCG
}

func (c *chosen) Uint64() uint64 {
	if len(c.choices) < 2 {
		return c.rest.Uint64()
	}
	n := uint64(binary.LittleEndian.Uint16(c.choices))
	c.choices = c.choices[2:]
	return n<<48 | n<<32 | n<<16 | n
}

func describe(ops []*history.Op) string {
	var b strings.Builder
	for _, op := range ops {
		end := fmt.Sprint(op.Return)
		if op.Return == history.Never {
			end = "never"
		}
		fmt.Fprintf(&b, "%c %d:%d-%s:%d %s %s ttl=%d attempt=%d wait=%d hold=%d stream=%d\n",
			'A'+op.Client-1, op.Call, op.CallSeq, end, op.ReturnSeq, op.Kind, op.Outcome, op.Granted, op.Attempt, op.Wait, op.Hold&0xffff, op.Stream)
	}
	return b.String()
}
