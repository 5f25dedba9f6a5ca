package checker

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/longtest"
)

// A simPlan says what happens in one simulated history.
type simPlan struct {
	fault mutation
	kind  string // what a second acquire is
	loss  int    // percent of requests without an answer
	// What clients and lock can do, and what befalls them.
	deaths, stale, store, notices, delays, fences, guarded bool
	renews, endless, anchored, numbered, cuts              bool
	faults                                                 faultPlan
	hidden                                                 bool // renewals are not reported
	identity                                               bool // see lockServer
}

func drawPlan(r *rand.Rand, fault mutation) simPlan {
	yes := func(n int) bool { return r.IntN(n) == 0 }
	p := simPlan{
		fault: fault, kind: []string{"refused", "nested", "refreshed"}[r.IntN(3)],
		deaths: yes(3), stale: yes(2), store: yes(2), notices: yes(3), delays: yes(2),
		fences: yes(2), renews: yes(4), endless: yes(5), anchored: !yes(3), numbered: yes(3), cuts: yes(10),
	}
	if yes(2) && fault == sound {
		p.loss = 2 + r.IntN(20)
	}
	p.guarded = p.fences && yes(2)
	p.hidden = p.renews && yes(3)
	if fault == tellsRefused { // which acquire a lock that joins was granted, its client could not know
		p.kind = "refused"
	}
	p.identity = p.kind != "refused" && yes(2)
	if p.faults = drawFaults(r, fault); p.faults.any() { // which call a fault strikes must be known
		p.loss, p.numbered = 0, true
	}
	p.identity = p.identity && p.kind != "refused"
	if fault != sound && p.faults.any() { // one fault, one guarantee
		p.deaths = false
	}
	if p.kind != "refused" { // or a refresh would shorten, a level be added to, a hold whose owner is told of nothing
		p.faults.swallows = false
	}
	switch fault {
	case innerFrees, refusesOwn, shortensNested:
		p.kind = "nested"
	case locksAnew:
		p.kind = "refreshed"
	case falseNotice:
		p.notices = true
	case delayIgnored:
		p.delays = true
	case flatFence:
		p.fences = true
	}
	return p
}

// A simulated history, and whether the mutation made a difference to it.
type simulated struct {
	memory
	cut     map[int32]int64
	faulted bool
	// tolerated is what a lock that does nothing else wrong was let do.
	tolerated []lockbench.Guarantee
}

// simulate runs one random history.
func simulate(seed uint64, fault mutation) simulated {
	r := rand.New(rand.NewPCG(seed, 3))
	p := drawPlan(r, fault)
	w := &world{Rand: r, plan: p, server: lockServer{Rand: r, fault: fault, kind: p.kind, identity: p.identity, relets: r.IntN(3) == 0}, version: 1, written: 1}
	steps := 2 + r.IntN(8)
	for id := int32(1); id <= int32(2+r.IntN(3)); id++ {
		c := &simClient{w: w, id: id, steps: steps}
		w.clients = append(w.clients, c)
		c.next(r.Int64N(12))
	}
	w.server.tells = fault == sound && r.IntN(2) == 0
	w.beginFaults(r.Int64N(60))
	w.run()
	w.probe()
	s := simulated{memory: memory{header: history.Header{Reacquire: p.kind, Renews: p.renews && !p.hidden, RenewsUnseen: p.hidden, Faults: p.faults.names()}, ops: w.ops}, faulted: w.server.faulted}
	if w.server.untold && !w.server.tells {
		s.tolerated = append(s.tolerated, lockbench.LossReported)
	}
	if p.faults.swallows {
		s.tolerated = append(s.tolerated, lockbench.NoSpuriousRefusal)
	}
	if p.cuts {
		s.tear(r, w.now)
	}
	return s
}

// tear makes s a record that stops before the run did, at a stamp of its own for
// each client.
func (s *simulated) tear(r *rand.Rand, end int64) {
	s.cut = map[int32]int64{}
	s.end = history.End{Partial: true, Why: "the test says so"}
	for _, op := range s.ops {
		if _, known := s.cut[op.Client]; !known && op.Client >= 0 {
			at, seq := r.Int64N(end+1)*tick, uint64(0)
			if op.CallSeq > 0 {
				seq = math.MaxUint64
			}
			s.cut[op.Client] = at
			s.cuts = append(s.cuts, &history.Op{Client: op.Client, Stream: math.MaxInt32 - op.Client, Call: at, CallSeq: seq, Return: at, Attempt: history.NoStamp})
		}
	}
}

// Events leaves out what a client did after its cut.
func (s simulated) Events() iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for ev := range s.memory.Events() {
			at, torn := s.cut[ev.Op.Client]
			if torn && stampOf(ev).t > at {
				continue
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// describe lists the operations with times in ticks.
func (s simulated) describe() string {
	var b strings.Builder
	for _, op := range s.ops {
		end := "never"
		if op.Return != history.Never {
			end = fmt.Sprint(op.Return / tick)
		}
		fmt.Fprintf(&b, "%c %d-%s %s %s %s", 'A'+op.Client-1, op.Call/tick, end, op.Kind, op.Outcome, op.Note)
		for _, f := range []struct {
			name string
			n    int64
		}{
			{"asked", op.Asked / tick}, {"ttl", op.Granted / tick}, {"attempt", max(0, op.Attempt/tick)}, {"wait", op.Wait / tick},
			{"delay", op.Delay / tick}, {"hold", op.Hold & 0xffff}, {"fence", int64(op.Fence)}, {"version", int64(op.Version)}, {"base", int64(op.Base)},
			{"callseq", int64(op.CallSeq)}, {"returnseq", int64(op.ReturnSeq)},
		} {
			if f.n != 0 {
				fmt.Fprintf(&b, " %s=%d", f.name, f.n)
			}
		}
		fmt.Fprintln(&b)
	}
	for client, at := range s.cut {
		fmt.Fprintf(&b, "%c cut at %d\n", 'A'+client-1, at/tick)
	}
	return b.String()
}

// broken returns the guarantees that the checker finds broken.
func (s simulated) broken(t *testing.T) map[lockbench.Guarantee]*Witness {
	t.Helper()
	result, err := Check(s)
	if err != nil {
		t.Fatal(err)
	}
	found := map[lockbench.Guarantee]*Witness{}
	for _, f := range result.Findings {
		if f.Verdict == Broken {
			found[f.Guarantee] = f.Witness
		}
	}
	for _, d := range result.Defects {
		t.Errorf("defect: %s\n%s", d, s.describe())
	}
	return found
}

// TestSimulatedLockIsNeverBlamed judges histories of a lock that does nothing
// wrong, under losses, delays, deaths, slow holders and torn records. Whatever is
// found broken there is a false alarm.
func TestSimulatedLockIsNeverBlamed(t *testing.T) {
	for n := range uint64(*histories / 10) {
		seed := uint64(*from) + n
		s := simulate(seed, sound)
		for g, w := range s.broken(t) {
			if !slices.Contains(s.tolerated, g) {
				t.Errorf("%s: %s", g, w.Sentence)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d (%s):\n%s", seed, s.header.Reacquire, s.describe())
		}
	}
}

// broad are the guarantees that fall with exclusion: two owners lose updates, are
// told the truth about a lock that they should have had, and make a fault of one
// kind look like one of another.
var broad = some(lockbench.Exclusion, lockbench.Effects, lockbench.LossReported, lockbench.NoEarlyExpiry,
	lockbench.Extend, lockbench.Reentrancy, lockbench.Fencing, lockbench.ReleaseDelay)

// blame is what a mutation must be found to break, and what else it may.
var blame = []struct {
	fault   mutation
	must    []lockbench.Guarantee // one of them
	may     []lockbench.Guarantee
	percent int // of the histories in which it struck, at least
}{
	{plainDelete, some(lockbench.OwnerRelease, lockbench.LossReported), broad, 40},
	{extendAny, some(lockbench.OwnerRelease, lockbench.LossReported), append(some(broad...), lockbench.NoSpuriousRefusal), 20},
	{earlyExpiry, some(lockbench.NoEarlyExpiry, lockbench.Extend), append(some(broad...), lockbench.OwnerRelease, lockbench.NoSpuriousRefusal), 30},
	{innerFrees, some(lockbench.Reentrancy), append(some(broad...), lockbench.NoSpuriousRefusal), 40},
	{refusesOwn, some(lockbench.Reentrancy), nil, 40},
	{shortensNested, some(lockbench.NoEarlyExpiry, lockbench.Reentrancy), append(some(broad...), lockbench.OwnerRelease), 10},
	{falseLoss, some(lockbench.LossReported), some(lockbench.Reentrancy, lockbench.OwnerRelease), 20},
	{falseNotice, some(lockbench.LossReported), some(lockbench.Reentrancy, lockbench.OwnerRelease), 40},
	{okWhenLost, some(lockbench.LossReported), nil, 20},
	{emptyExtend, some(lockbench.Extend), append(some(broad...), lockbench.OwnerRelease), 8},
	{delayIgnored, some(lockbench.ReleaseDelay), nil, 30},
	{flatFence, some(lockbench.Fencing), nil, 40},
	{spuriousRefusal, some(lockbench.NoSpuriousRefusal), some(lockbench.Recovery), 15},
	{locksAnew, some(lockbench.LossReported), nil, 10},
	{tellsRefused, some(lockbench.NoSpuriousRefusal), nil, 10},
	{wedgesDead, some(lockbench.Recovery), nil, 20},
	{wedgesLost, some(lockbench.LostReply), nil, 20},
	{wedgesCancelled, some(lockbench.Cancel), nil, 20},
	{retryFrees, some(lockbench.LostReply), append(some(broad...), lockbench.OwnerRelease), 5},
	{retryTakes, some(lockbench.LostReply), append(some(broad...), lockbench.OwnerRelease), 20},
	{grantsCancelled, some(lockbench.Cancel), append(some(broad...), lockbench.OwnerRelease, lockbench.LostReply), 20}, // a release given up may explain it, too
	{forgets, some(lockbench.Restart), nil, 10},
	{endsStepped, some(lockbench.Restart), nil, 10},
	{failsFlushed, some(lockbench.ScriptFlush), nil, 20},
	{refusesFlushed, some(lockbench.ScriptFlush), nil, 20},
	{trustsClocks, some(lockbench.Skew), some(lockbench.OwnerRelease, lockbench.Exclusion), 20},
	{doubleGrant, some(lockbench.NoEarlyExpiry, lockbench.Extend), append(some(broad...), lockbench.OwnerRelease), 40},
}

func some(g ...lockbench.Guarantee) []lockbench.Guarantee { return g }

// TestMutantsAreBlamed judges histories of locks with one fault each: it must be
// found in a share of the histories in which it struck, and be called by its name.
func TestMutantsAreBlamed(t *testing.T) {
	if testing.Short() {
		t.Skip("shares need many histories, and one goroutine judges them")
	}
	for _, b := range blame {
		t.Run(strings.ReplaceAll(string(b.fault), " ", "-"), func(t *testing.T) {
			struck, found := 0, 0
			for seed := range uint64(*histories / longtest.Times(12, 60)) {
				s := simulate(seed, b.fault)
				if s.faulted {
					struck++
				}
				hit := false
				for g, w := range s.broken(t) {
					if slices.Contains(s.tolerated, g) && !slices.Contains(b.must, g) {
						continue
					}
					hit = hit || slices.Contains(b.must, g)
					if !slices.Contains(b.must, g) && !slices.Contains(b.may, g) {
						t.Errorf("seed %d (%s): %s: %s\n%s", seed, s.header.Reacquire, g, w.Sentence, s.describe())
					}
				}
				if hit {
					found++
				}
			}
			t.Logf("found in %d of %d histories", found, struck)
			if found == 0 || found*100 < struck*b.percent {
				t.Errorf("found in %d of the %d histories in which it struck, want %d %% at least", found, struck, b.percent)
			}
		})
	}
}
