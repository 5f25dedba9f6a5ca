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
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// A simPlan describes one simulated history.
type simPlan struct {
	fault mutation
	kind  string // meaning of a second acquire
	loss  int    // percent of requests without an answer
	// Abilities of clients and lock, and faults.
	deaths, stale, store, notices, delays, fences, guarded bool
	renews, endless, anchored, numbered, cuts              bool
	faults                                                 faultPlan
	hidden                                                 bool // renewals are not reported
	identity                                               bool // see lockServer
	patient                                                bool // waits are long
}

func drawPlan(r *rand.Rand, fault mutation, others mixture) simPlan {
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
	if p.faults = drawFaults(r, fault, others); p.faults.any() { // which call a fault affects must be known
		p.loss, p.numbered = 0, true
	}
	p.identity = p.identity && p.kind != "refused"
	if fault != sound && p.faults.any() { // one fault, one guarantee
		p.deaths = false
	}
	if p.kind != "refused" { // or a refresh would shorten a hold, or a level be added to it, without its owner being told
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
	cut      map[int32]int64
	faulted  bool
	overlaps []overlap // that the mutation caused, see occupancy
}

// simulate runs one random history.
func simulate(seed uint64, fault mutation) simulated { return simulateAmid(seed, fault, alone) }

// simulateAmid runs one in which other faults befall the mutant.
func simulateAmid(seed uint64, fault mutation, others mixture) simulated {
	r := rand.New(rand.NewPCG(seed, 3))
	p := drawPlan(r, fault, others)
	p.patient = seed%3 == 0 || fault == sleepsOn
	w := &world{Rand: r, plan: p, server: lockServer{Rand: r, gone: map[int32]bool{}, fault: fault, kind: p.kind, identity: p.identity, relets: r.IntN(3) == 0, forgetful: p.faults.forgets, since: math.MaxInt64, cutSince: math.MaxInt64}, version: 1, written: 1, forgot: -1}
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
	s := simulated{memory: memory{header: history.Header{
		Claims: w.claims(p), Reacquire: p.kind, Renews: p.renews && !p.hidden, RenewsUnseen: p.hidden, Faults: p.faults.names(), WakesNS: simWakes,
	}, ops: w.ops}, faulted: w.server.faulted, overlaps: w.overlaps}
	if p.cuts {
		s.tear(r, w.now)
	}
	return s
}

// simWakes is how soon a waiter asks again, in ns: after the slowest reply, and tries that a fault affects, and its pause.
const simWakes = 40 * tick

// claims are the guarantees of the simulated lock without its mutation: all guarantees of a lease
// lock, except those that the plan's options break.
func (w *world) claims(p simPlan) lockbench.Claims {
	claims := lockbench.LeaseClaims(lockbench.Reentrancy, lockbench.ReleaseDelay, lockbench.Fencing)
	if w.server.untold && !w.server.tells {
		claims = claims.Without(lockbench.LossReported)
	}
	if p.faults.swallows {
		claims = claims.But(lockbench.Exception{Gives: some(lockbench.Answers), Under: lockbench.LostReply, Why: "an acquire without an answer is told to be refused"})
	}
	return claims
}

// tear makes s a record that stops before the run did, at a stamp of its own for each client.
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

// Events leaves out a client's events after its cut.
func (s simulated) Events() iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for ev := range s.memory.Events() {
			at, torn := s.cut[ev.Op.Client]
			if torn && stampOf(ev).T > at {
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

// broken returns the cells that the checker finds broken.
func (s simulated) broken(t *testing.T) []CellFinding {
	t.Helper()
	result, err := Check(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Defects {
		t.Errorf("defect: %s\n%s", d, s.describe())
	}
	return slices.DeleteFunc(result.Findings, func(f CellFinding) bool { return f.Verdict != Broken })
}

// TestSimulatedLockPasses judges histories of a correct lock, under losses, delays, deaths, slow
// holders, torn records, and mixes of all conditions, even with a server that forgets. Every
// violation of its claims is a false alarm.
func TestSimulatedLockPasses(t *testing.T) {
	rare := map[lockbench.Conditions]int64{lockbench.StateLoss: 0, lockbench.Failover: 0}
	for n := range uint64(*histories / 10) {
		seed := uint64(*from) + n
		s := simulate(seed, sound)
		for _, f := range s.broken(t) {
			if f.Against > 0 {
				t.Errorf("%s: %s", f.Cell, f.Counterexample.Sentence)
			}
			for c := range rare {
				if f.Cell.Guarantee == lockbench.Exclusion && f.Cell.Under.Has(c) {
					rare[c]++
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d (%s):\n%s", seed, s.header.Reacquire, s.describe())
		}
	}
	for c, found := range rare { // the conditions that the lock does not survive occurred
		if t.Logf("exclusion@%s: %d violations", c, found); found*300 < int64(*histories/10) {
			t.Errorf("exclusion@%s was broken in %d histories of %d, want 1 in 300 at least", c, found, *histories/10)
		}
	}
}

// withhold takes leases out of the record, of calls of unknown outcome, of all, or of some, and
// may say that owners are missing.
func (s *simulated) withhold(r *rand.Rand) {
	which := r.IntN(3)
	for _, op := range s.ops {
		grants := op.Kind == history.Acquire || op.Kind == history.Extend || op.Kind == history.Renew
		some := which == 1 || which == 0 && op.Outcome == history.Unknown || r.IntN(3) == 0
		if grants && some && (op.Outcome == history.OK || op.Outcome == history.Unknown) {
			op.Granted = history.NotTold
		}
	}
	s.header.Others = r.IntN(3) == 0
}

// TestLeasesNotToldAccuseNobody judges the histories of TestSimulatedLockPasses without some of
// their leases, and as if owners were missing.
func TestLeasesNotToldAccuseNobody(t *testing.T) {
	broken := 0
	for n := range uint64(*histories / 10) {
		seed := uint64(*from) + n
		s := simulate(seed, sound)
		s.withhold(rand.New(rand.NewPCG(seed, 5)))
		for _, f := range s.broken(t) {
			broken++
			if f.Against > 0 {
				t.Errorf("%s: %s", f.Cell, f.Counterexample.Sentence)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d (%s):\n%s", seed, s.header.Reacquire, s.describe())
		}
	}
	if broken == 0 {
		t.Error("nothing was broken, not even past a lease: nothing was judged")
	}
}

// TestSeedsThatAccused judges histories that once accused the sound lock, by rules since mended.
func TestSeedsThatAccused(t *testing.T) {
	for seed, why := range map[uint64]string{
		51827:   "a retried renewal of an earlier grant cut short the next one, by a lease that is not told",
		2056429: "a nested acquire joined what a failover had brought back",
		89705:   "an extend gave a lease to a grant without one, and the owner died",
	} {
		s := simulate(seed, sound)
		for _, f := range s.broken(t) {
			if f.Against > 0 {
				t.Errorf("seed %d, in which %s: %s: %s", seed, why, f.Cell, f.Counterexample.Sentence)
			}
		}
	}
}

// broad are the guarantees that fall with exclusion: two owners lose updates, are
// told the truth about a lock that they should have had, and make a fault of one
// kind look like one of another.
var broad = some(lockbench.Exclusion, lockbench.Effects, lockbench.LossReported, lockbench.LeaseKept,
	lockbench.Reentrancy, lockbench.Fencing, lockbench.ReleaseDelay)

// expectations list the cells that each mutation must break, and others that it may break.
var expectations = []struct {
	fault   mutation
	must    []lockbench.Cell // one of them, with any other conditions
	may     []lockbench.Guarantee
	percent int // of the histories in which it occurred, at least
}{
	{plainDelete, cellsOf(lockbench.OwnerRelease.At(0), lockbench.LossReported.At(0)), broad, 40},
	{extendAny, cellsOf(lockbench.OwnerRelease.At(0), lockbench.LossReported.At(0)), append(some(broad...), lockbench.NoSpuriousRefusal), 20},
	{earlyExpiry, cellsOf(lockbench.LeaseKept.At(0)), append(some(broad...), lockbench.OwnerRelease, lockbench.NoSpuriousRefusal), 30},
	{innerFrees, cellsOf(lockbench.Reentrancy.At(0)), append(some(broad...), lockbench.NoSpuriousRefusal, lockbench.OwnerRelease), 40},
	{refusesOwn, cellsOf(lockbench.Reentrancy.At(0)), nil, 40},
	{shortensNested, cellsOf(lockbench.LeaseKept.At(0), lockbench.Reentrancy.At(0)), append(some(broad...), lockbench.OwnerRelease), 10},
	{falseLoss, cellsOf(lockbench.LossReported.At(0)), some(lockbench.Reentrancy, lockbench.OwnerRelease), 20},
	{falseNotice, cellsOf(lockbench.LossReported.At(0)), some(lockbench.Reentrancy, lockbench.OwnerRelease), 40},
	{okWhenLost, cellsOf(lockbench.LossReported.At(0)), nil, 20},
	{emptyExtend, cellsOf(lockbench.LeaseKept.At(0)), append(some(broad...), lockbench.OwnerRelease), 8},
	{delayIgnored, cellsOf(lockbench.ReleaseDelay.At(0)), nil, 30},
	{flatFence, cellsOf(lockbench.Fencing.At(0)), nil, 40},
	{spuriousRefusal, cellsOf(lockbench.NoSpuriousRefusal.At(0)), some(lockbench.Recovery, lockbench.WakeUp), 15},
	{locksAnew, cellsOf(lockbench.LossReported.At(0)), nil, 10},
	{tellsRefused, cellsOf(lockbench.Answers.At(lockbench.LostReply)), nil, 10},
	{wedgesDead, cellsOf(lockbench.Recovery.At(lockbench.Crash)), some(lockbench.WakeUp), 20},
	{wedgesLost, cellsOf(lockbench.Recovery.At(lockbench.LostReply)), some(lockbench.NoSpuriousRefusal, lockbench.WakeUp), 20},
	{wedgesCancelled, cellsOf(lockbench.Recovery.At(lockbench.Cancel)), some(lockbench.WakeUp), 20},
	{retryFrees, cellsOf(lockbench.LeaseKept.At(lockbench.LostReply), lockbench.OwnerRelease.At(lockbench.LostReply)), broad, 5},
	{retryTakes, cellsOf(lockbench.LeaseKept.At(lockbench.LostReply), lockbench.OwnerRelease.At(lockbench.LostReply)), broad, 20},
	{grantsCancelled, cellsOf(lockbench.LeaseKept.At(lockbench.Cancel), lockbench.LossReported.At(lockbench.Cancel)), append(some(broad...), lockbench.OwnerRelease), 20}, // a release given up may explain it, too
	{forgets, cellsOf(lockbench.Exclusion.At(lockbench.StateLoss), lockbench.Fencing.At(lockbench.StateLoss)), broad, 10},
	{endsStepped, cellsOf(lockbench.Exclusion.At(lockbench.StateLoss), lockbench.Fencing.At(lockbench.StateLoss)), broad, 10},
	{failsFlushed, cellsOf(lockbench.Answers.At(lockbench.ScriptFlush)), some(lockbench.NoSpuriousRefusal), 20},
	{refusesFlushed, cellsOf(lockbench.NoSpuriousRefusal.At(lockbench.ScriptFlush), lockbench.LossReported.At(lockbench.ScriptFlush)), some(lockbench.WakeUp), 20},
	{trustsClocks, cellsOf(lockbench.Exclusion.At(lockbench.Skew)), append(some(broad...), lockbench.OwnerRelease), 20},
	{sleepsOn, cellsOf(lockbench.WakeUp.At(0)), nil, 20},
	{doubleGrant, cellsOf(lockbench.LeaseKept.At(0)), append(some(broad...), lockbench.OwnerRelease), 40},
}

func cellsOf(all ...lockbench.Cell) []lockbench.Cell { return all }

func some(g ...lockbench.Guarantee) []lockbench.Guarantee { return g }

// TestMutantsAreFound judges histories of locks with one fault each: it must be
// found in a share of the histories in which it occurred, under its name.
func TestMutantsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("shares need many histories, and one goroutine judges them")
	}
	for _, b := range expectations {
		t.Run(strings.ReplaceAll(string(b.fault), " ", "-"), func(t *testing.T) {
			occurred, found := 0, 0
			for seed := range uint64(*histories / longtest.Times(12, 60)) {
				s := simulate(seed, b.fault)
				if s.faulted {
					occurred++
				}
				hit := false
				for _, f := range s.broken(t) {
					named := slices.ContainsFunc(b.must, func(c lockbench.Cell) bool {
						return c.Guarantee == f.Cell.Guarantee && f.Cell.Under.Has(c.Under)
					})
					hit = hit || named
					if f.Against > 0 && !named && !slices.Contains(b.may, f.Cell.Guarantee) {
						t.Errorf("seed %d (%s): %s: %s\n%s", seed, s.header.Reacquire, f.Cell, f.Counterexample.Sentence, s.describe())
					}
				}
				if hit {
					found++
				}
			}
			t.Logf("found in %d of %d histories", found, occurred)
			if found == 0 || found*100 < occurred*b.percent {
				t.Errorf("found in %d of the %d histories in which it occurred, want %d %% at least", found, occurred, b.percent)
			}
		})
	}
}
