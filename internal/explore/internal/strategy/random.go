package strategy

import (
	"math/rand/v2"
	"slices"

	"github.com/lockbench/lockbench/internal/fault"
)

// Random draws schedules. Before a schedule begins it draws, uniformly, the steps at which faults
// and time moves are made. At every other step it runs a command, drawn uniformly from those that
// can run.
type Random struct {
	faults, moves int
	source        rand.PCG
	rand          *rand.Rand
	// steps is the mean number of steps of the schedules so far.
	steps float64
	// dueFaults and dueMoves are the step numbers at which a fault or a time move is to be made,
	// rising. If none is possible at that step, it is made at the next step where one is.
	dueFaults, dueMoves []int
	runs                int
	last                int       // steps of the schedule under way
	order               *priority // chooses the commands; nil chooses them uniformly
}

// NewRandom draws schedules with at most this many faults and time moves. steps is a first estimate
// of the number of steps of a schedule.
func NewRandom(seed uint64, faults, moves, steps int) *Random {
	r := &Random{faults: faults, moves: moves, steps: float64(steps)}
	r.source = *rand.NewPCG(seed, 0x6578706c6f7265)
	r.rand = rand.New(&r.source)
	return r
}

// NewPCT is like NewRandom, but chooses commands by PCT, see [priority].
func NewPCT(seed uint64, faults, moves, steps int) *Random {
	r := NewRandom(seed, faults, moves, steps)
	r.order = &priority{}
	return r
}

// Begin implements Chooser. Schedules have the maximum of faults and moves, one less, and so on
// down to none, in turn.
func (r *Random) Begin() bool {
	if r.runs > 0 {
		r.steps += (float64(r.last) - r.steps) / float64(min(r.runs, 100))
	}
	r.runs++
	r.last = 0
	r.dueFaults = r.draw(r.dueFaults, r.rand.IntN(r.faults+1))
	r.dueMoves = r.draw(r.dueMoves, r.rand.IntN(r.moves+1))
	if r.order != nil {
		r.order.draw(r.rand, r.steps)
	}
	return true
}

// draw draws n step numbers into due, rising.
func (r *Random) draw(due []int, n int) []int {
	due = due[:0]
	for range n {
		due = append(due, r.rand.IntN(1+int(1.25*r.steps))) // some schedules are longer than the mean
	}
	slices.Sort(due)
	return due
}

// Choose implements Chooser.
func (r *Random) Choose(p Point) int {
	r.last = p.Steps
	if len(r.dueFaults) > 0 && r.dueFaults[0] <= p.Steps {
		if i := r.fault(p); i >= 0 {
			r.dueFaults = r.dueFaults[1:]
			return i
		}
	}
	if len(r.dueMoves) > 0 && r.dueMoves[0] <= p.Steps {
		if i := r.pick(p, func(c Choice) bool { return c.Verb == VerbMove }); i >= 0 {
			r.dueMoves = r.dueMoves[1:]
			return i
		}
	}
	if r.order != nil {
		return r.order.pick(p)
	}
	return r.pick(p, Choice.Plain)
}

// fault draws a fault: first its kind, because some kinds can occur in more places than others.
func (r *Random) fault(p Point) int {
	var kinds []fault.Kind
	for _, c := range p.Choices {
		if kind := c.Verb.Fault(); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return -1
	}
	kind := kinds[r.rand.IntN(len(kinds))]
	return r.pick(p, func(c Choice) bool { return c.Verb.Fault() == kind })
}

// pick draws one of the choices that fit. It returns -1 if there is none.
func (r *Random) pick(p Point, fits func(Choice) bool) int {
	n := 0
	for _, c := range p.Choices {
		if fits(c) {
			n++
		}
	}
	if n == 0 {
		return -1
	}
	left := r.rand.IntN(n)
	for i, c := range p.Choices {
		if !fits(c) {
			continue
		}
		if left == 0 {
			return i
		}
		left--
	}
	return -1
}

// Took implements Chooser.
func (r *Random) Took(*Effect) {}

// A priority chooses commands by PCT: each actor has a random priority, and the one with the
// highest runs. At a few steps, drawn beforehand, the running actor falls behind all others
// (Burckhardt, Kothari, Musuvathi and Nagarakatti, "A randomized scheduler with probabilistic
// guarantees of finding bugs", ASPLOS 2010). A bug that needs d orderings among n clients in k
// steps is found with a probability of at least 1/(n k^(d-1)).
type priority struct {
	rand   *rand.Rand
	ranks  map[int]float64 // by actor; ranks of later change points are negative
	change []int           // steps, in order
	changes,
	last int
}

// pctDepth is d, the number of orderings that a bug may need.
const pctDepth = 3

func (o *priority) draw(r *rand.Rand, steps float64) {
	o.rand, o.changes, o.last = r, 0, NoActor
	if o.ranks == nil {
		o.ranks = map[int]float64{}
	}
	clear(o.ranks)
	o.change = o.change[:0]
	for range pctDepth - 1 {
		o.change = append(o.change, r.IntN(1+int(steps)))
	}
	slices.Sort(o.change)
}

func (o *priority) pick(p Point) int {
	for len(o.change) > 0 && o.change[0] <= p.Steps {
		o.change = o.change[1:]
		o.changes++
		o.ranks[o.last] = -float64(o.changes)
	}
	best := -1
	for i, c := range p.Choices {
		if c.Plain() && (best < 0 || o.rank(c.Actor) > o.rank(p.Choices[best].Actor)) {
			best = i
		}
	}
	o.last = p.Choices[best].Actor
	return best
}

// rank returns the priority of an actor, drawn on first use.
func (o *priority) rank(actor int) float64 {
	r, ok := o.ranks[actor]
	if !ok {
		r = o.rand.Float64()
		o.ranks[actor] = r
	}
	return r
}
