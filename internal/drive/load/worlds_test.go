package load

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/workloads"
)

var (
	worlds     = flag.Int("worlds", longtest.Times(40, 1000), "how many worlds to simulate")
	firstWorld = flag.Uint64("world", 1, "the seed of the first of them")
)

// A point is where the world may make something slow.
type point string

const (
	atCall    point = "call" // before a call of the lock
	atReturn  point = "return"
	atSend    point = "send" // before a command runs
	atReply   point = "reply"
	atLook    point = "look"   // before a look at the server
	atRecord  point = "record" // after a look, before it is recorded
	atAsk     point = "ask"    // of the detector of standstills
	atWrite   point = "write"  // of the history
	atRemoval point = "removal"
)

var points = []point{atCall, atReturn, atSend, atReply, atLook, atRecord, atAsk, atWrite, atRemoval}

// slowness is how often a point is slow, and for how long at most.
type slowness struct {
	p    float64
	most time.Duration
}

// An incident is what others do to the user's server.
type incident struct {
	kind      string
	at, lasts time.Duration
}

const (
	restarts = "restarts"
	flushes  = "flushes"
	evicts   = "evicts"  // keys, one by one
	deletes  = "deletes" // keys, one by one
	kills    = "kills"   // connections
	stalls   = "stalls"
)

var kinds = []string{restarts, flushes, evicts, deletes, kills, stalls}

// A plan is a world before it begins. It follows from its seed and its design.
type plan struct {
	seed      uint64
	design    design.Design
	workload  string
	options   workloads.Options
	users     bool // the server is the user's, watched and with incidents; else lockbench's own
	faults    []fault.Fault
	incidents []incident
	slow      map[point]slowness
	full      int // the number of the write of the history that fails; 0 for none
}

// faultsOfWorlds are faults that an embedded server allows.
var faultsOfWorlds = []string{"crash,p=0.05", "lost-reply,p=0.02", "cut,p=0.02", "cancel,p=0.05", "pause,p=0.05", "script-flush,at=20ms,every=50ms"}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// planOf draws a plan. Rare things are common in some worlds, and absent from others.
func planOf(seed uint64, d design.Design) plan {
	const ms = time.Millisecond
	r := rand.New(rand.NewPCG(seed, 0))
	p := plan{seed: seed, design: d, workload: pick(r, "mutex", "oversell"), users: r.IntN(2) == 0, slow: map[point]slowness{}}
	o := workloads.Defaults()
	o.Seed = seed
	o.Clients, o.Keys = 2+r.IntN(7), 1+r.IntN(3)
	o.Processes = 1 + r.IntN(min(o.Clients, 3))
	o.TTL, o.Wait = pick(r, 100*ms, 300*ms, 1000*ms), pick(r, 0, 20*ms, 200*ms)
	o.Hold, o.Think = workloads.Always(pick(r, 1*ms, 10*ms, 50*ms)), workloads.Always(pick(r, 5*ms, 20*ms, 50*ms))
	o.Duration = pick(r, 300*ms, 600*ms, 1000*ms)
	p.options = o
	for _, at := range points {
		if r.IntN(3) > 0 {
			continue
		}
		p.slow[at] = slowness{pick(r, 0.01, 0.1, 0.5), pick(r, ms, 10*ms, 100*ms, 2*o.TTL)}
		if at == atSend || at == atReply {
			p.slow[at] = slowness{p.slow[at].p, min(p.slow[at].most, p.longest())}
		}
	}
	for _, text := range faultsOfWorlds {
		f, err := fault.Parse(text)
		if err != nil {
			panic(err)
		}
		if r.IntN(3) == 0 && !(p.users && f.Kind == fault.ScriptFlush) {
			p.faults = append(p.faults, f)
		}
	}
	if p.users {
		for range r.IntN(6) {
			p.incidents = append(p.incidents, incident{pick(r, kinds...), time.Duration(r.Int64N(int64(o.Duration))), pick(r, 0, 10*ms, 150*ms, 400*ms)})
		}
		slices.SortFunc(p.incidents, func(a, b incident) int { return int(a.at - b.at) })
	}
	if r.IntN(5) == 0 {
		p.full = 1 + r.IntN(20)
	}
	return p
}

// longest is how long a command may take without being a fault: a lock that renews every third of
// its lease has to bear less.
func (p *plan) longest() time.Duration {
	if p.design.Renews {
		return p.options.TTL / 8
	}
	return 2 * p.options.TTL
}

// An outcome is what came of a world.
type outcome struct {
	plan
	summary Summary
	err     error // of the run
	history []byte
	writes  int
	keys    int64 // left on the server
	result  checker.Result
	// failures say what may not happen, whatever the lock; accused says what the lock is accused of.
	failures, accused []string
}

func (o *outcome) failf(format string, args ...any) {
	o.failures = append(o.failures, fmt.Sprintf(format, args...))
}

func (o *outcome) broke(what string, err error) {
	if err != nil {
		o.failf("%s: %v", what, err)
	}
}

// judge judges the history, as far as it was written.
func (o *outcome) judge() {
	failed := o.full > 0 && o.writes >= o.full
	switch {
	case failed && !errors.Is(o.err, errDisk):
		o.failf("the error is %v; want %v", o.err, errDisk)
	case !failed:
		o.broke("run", o.err)
	}
	if o.keys > 0 {
		o.failf("%d keys left on the server", o.keys)
	}
	src, err := history.NewSource(bytes.NewReader(o.history))
	if err != nil {
		if o.full != 1 { // the header
			o.broke("open the history", err)
		}
		return
	}
	if o.result, err = checker.Check(src); err != nil {
		o.broke("check the history", err)
		return
	}
	o.judgeDeaths()
	partial := src.End().Partial
	if partial != failed || failed && o.summary.Ended != EndedUnrecorded {
		o.failf("the history is partial: %t, and the run ended because %s; the disk failed: %t", partial, o.summary.Ended, failed)
	}
	late := int64(0) // a client that is dead may still be told of a grant
	for _, f := range o.summary.Faults {
		if f.Kind == string(fault.Crash) {
			late = f.Occurrences * int64(o.options.Clients)
		}
	}
	if got, want := o.result.Grants, o.summary.Grants; got > want || got < want-late && !partial {
		o.failf("%d grants in the history, %d counted", got, want)
	}
	for _, defect := range o.result.Defects {
		o.failf("defect: %v", defect)
	}
	if partial && o.users { // it may end before an incident is on record
		return
	}
	for _, f := range o.result.Findings {
		if f.Against > 0 {
			o.accused = append(o.accused, fmt.Sprintf("%s %d times: %s", f.Cell, f.Against, f.Counterexample.Sentence))
		}
	}
}

// judgeDeaths looks for calls that the crash of their process ended before the client's death is on
// record: as answers of the lock.
func (o *outcome) judgeDeaths() {
	src, err := history.NewSource(bytes.NewReader(o.history))
	if err != nil {
		o.broke("open the history", err)
		return
	}
	dead := map[int32]bool{}
	for ev, err := range src.Events() {
		switch {
		case err != nil:
			o.broke("read the history", err)
			return
		case ev.Op.Kind == history.Death:
			dead[ev.Op.Client] = true
		case ev.Phase == history.Return && strings.Contains(ev.Op.Note, "the process has crashed") && !dead[ev.Op.Client]:
			o.failf("a %s of client %d ended by a crash at %v, before the death", ev.Op.Kind, ev.Op.Client, time.Duration(ev.Op.Return))
		}
	}
}

// simulate runs a world. A world that does not end names itself, too.
func simulate(t *testing.T, p plan) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("world %d: %v", p.seed, r)
			panic(r)
		}
	}()
	synctest.Test(t, func(t *testing.T) { o = p.run(t) })
	return o
}

// eachWorld simulates worlds side by side.
func eachWorld(t *testing.T, first uint64, n int, do func(t *testing.T, seed uint64)) {
	next := make(chan uint64)
	go func() {
		defer close(next)
		for i := range n {
			next <- first + uint64(i)
		}
	}()
	t.Run("worlds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for seed := range next {
					t.Run(fmt.Sprint(seed), func(t *testing.T) { do(t, seed) })
				}
			})
		}
	})
}

// soundInWorlds are the locks that no world may accuse.
var soundInWorlds = []string{"lua-token/strategy", "hash-reentrant/notify", "redsync/single"}

// TestWorlds: whatever the world does, no sound lock is accused, and no result is lost.
func TestWorlds(t *testing.T) {
	eachWorld(t, *firstWorld, *worlds, func(t *testing.T, seed uint64) {
		p := planOf(seed, catalogued(t, soundInWorlds[seed%uint64(len(soundInWorlds))]))
		o := simulate(t, p)
		for _, what := range slices.Concat(o.failures, o.accused) {
			t.Error(what)
		}
		if t.Failed() {
			t.Logf("%v\nhint: go test ./internal/drive/load -run TestWorlds -world %d -worlds 1", p, seed)
		}
	})
}

// TestWorldsCatchMutants: locks that are broken on purpose are accused in some world.
func TestWorldsCatchMutants(t *testing.T) {
	for _, name := range []string{"get-set", "plain-del", "get-del", "evalsha-only"} {
		t.Run(name, func(t *testing.T) {
			all := mutants.Mutants()
			mutant := all[slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })]
			for seed := range uint64(1000) { // one world in fifteen accuses plain-del
				if o := simulate(t, planOf(seed, mutant.Design())); len(o.accused) > 0 {
					t.Logf("world %d: %s", seed, o.accused[0])
					return
				}
			}
			t.Error("no world accuses it")
		})
	}
}

// TestEveryWriteFails makes each write of a history fail in turn.
func TestEveryWriteFails(t *testing.T) {
	p := planOf(*firstWorld, catalogued(t, soundInWorlds[0]))
	p.full = 0
	for n := simulate(t, p).writes; n > 0; n-- {
		p.full = n
		for _, what := range simulate(t, p).failures {
			t.Errorf("write %d: %s", n, what)
		}
	}
}

// TestSameSeedSamePlan checks that a plan follows from its seed and its design. Of two simulations of
// one plan, the events may still differ where the scheduler orders what happens at one instant.
func TestSameSeedSamePlan(t *testing.T) {
	for seed := range uint64(100) {
		d := catalogued(t, soundInWorlds[seed%uint64(len(soundInWorlds))])
		if a, b := planOf(seed, d).String(), planOf(seed, d).String(); a != b {
			t.Errorf("world %d: plans %s and %s; want the same", seed, a, b)
		}
	}
}
