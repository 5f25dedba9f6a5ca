package strategy

import (
	"fmt"
	"slices"
)

// Exhaustive makes all schedules, depth first. The first pass makes the schedules without a fault
// or time move, the second the schedules with one, and so on, so that the first schedule that
// breaks a cell is among the simplest. With reduction it leaves out schedules that differ from an
// explored one only in the order of steps that commute (sleep sets, Godefroid 1996); SOUNDNESS.md
// proves that no violation is missed.
type Exhaustive struct {
	reduce        bool
	faults, moves int // the budgets

	level   int // number of faults and moves in the schedules of the current pass
	begun   bool
	path    []*node // the choices made so far, in use up to depth
	depth   int
	asleep  bool // the current schedule was abandoned: all its continuations were explored
	used    int  // faults and moves of the current schedule
	deepest int  // the most faults and moves of a schedule in this pass

	// Pruned counts the branches left out in all passes.
	Pruned int64
	// Diverged counts the schedules that differed from an earlier one with the same choices, and
	// were dropped with their continuations: no seed decides all of the lock's behaviour.
	Diverged int64
	// Varied is set if time could be moved to other instants than in an earlier schedule with the
	// same choices. No schedule is dropped for that, but not all instants are explored.
	Varied bool
	// Divergence describes the first schedule of Diverged.
	Divergence string
}

// A node is one point of the current schedule.
type node struct {
	choices []Choice
	at      int      // index of the choice being explored
	effects []Effect // effects of the choices up to at
	sleep   []sleeper
	before  int // faults and moves made before
}

// A sleeper is a choice that need not be made, because a schedule with it at this point was
// explored. A step that does not commute with it wakes it.
type sleeper struct {
	choice Choice
	effect Effect
}

// NewExhaustive explores schedules with at most so many faults and moves of time; with reduce it
// explores each order of commuting steps once.
func NewExhaustive(faults, moves int, reduce bool) *Exhaustive {
	return &Exhaustive{reduce: reduce, faults: faults, moves: moves}
}

// Begin implements Chooser.
func (x *Exhaustive) Begin() bool {
	if !x.begun {
		x.begun = true
		x.restart()
		return true
	}
	x.deepest = max(x.deepest, x.used)
	for x.path = x.path[:x.depth]; len(x.path) > 0; x.path = x.path[:len(x.path)-1] {
		if x.path[len(x.path)-1].advance(x) {
			x.restart()
			return true
		}
	}
	if x.level == x.faults+x.moves || x.deepest < x.level {
		return false
	}
	x.level++
	x.deepest = 0
	x.restart()
	return true
}

// restart begins a schedule that follows path to its end.
func (x *Exhaustive) restart() { x.depth, x.used, x.asleep = 0, 0, false }

// Fresh reports whether the last schedule is new in this pass, and was not abandoned.
func (x *Exhaustive) Fresh() bool { return !x.asleep && x.used == x.level }

// Choose implements Chooser.
func (x *Exhaustive) Choose(p Point) int {
	if x.depth < len(x.path) {
		return x.follow(p)
	}
	n := x.node()
	n.choices = append(n.choices[:0], p.Choices...)
	n.before = x.used
	n.at = -1
	n.effects = n.effects[:0]
	x.inherit(n)
	x.path = append(x.path, n)
	if !n.advance(x) {
		x.path = x.path[:len(x.path)-1]
		x.asleep = true
		return Stop
	}
	return x.take(n)
}

// follow repeats the choice made at this depth before.
func (x *Exhaustive) follow(p Point) int {
	n := x.path[x.depth]
	if !slices.EqualFunc(n.choices, p.Choices, sameStep) {
		if x.Diverged++; x.Diverged == 1 {
			x.Divergence = fmt.Sprintf("step %d of a schedule begun again had the choices %v, before it had %v", x.depth+1, p.Choices, n.choices)
		}
		x.asleep = true
		return Stop
	}
	x.Varied = x.Varied || !slices.Equal(n.choices, p.Choices)
	return x.take(n)
}

// sameStep reports whether a and b are the same choice at the same point, perhaps with different
// times: lock code may wait for a time that no seed decides.
func sameStep(a, b Choice) bool {
	b.At = a.At
	return a == b
}

func (x *Exhaustive) take(n *node) int {
	x.depth++
	if !n.choices[n.at].Plain() {
		x.used++
	}
	return n.at
}

// Took implements Chooser.
func (x *Exhaustive) Took(e *Effect) {
	if x.depth == 0 {
		return
	}
	n := x.path[x.depth-1]
	switch {
	case len(n.effects) > n.at: // known before
	case cap(n.effects) > n.at:
		n.effects = n.effects[:n.at+1]
		n.effects[n.at] = e.copy(n.effects[n.at])
	default:
		n.effects = append(n.effects, e.copy(Effect{}))
	}
}

// node returns the node at the current depth, and makes it if needed.
func (x *Exhaustive) node() *node {
	if cap(x.path) > x.depth {
		if n := x.path[:x.depth+1][x.depth]; n != nil {
			return n
		}
	}
	return &node{}
}

// inherit adds the sleepers of n: the sleepers of its parent, and the choices explored there, if
// they commute with the step that led to n.
func (x *Exhaustive) inherit(n *node) {
	n.sleep = n.sleep[:0]
	if !x.reduce || x.depth == 0 {
		return
	}
	parent := x.path[x.depth-1]
	taken := &parent.effects[parent.at]
	for i := range parent.sleep {
		if s := &parent.sleep[i]; s.effect.commutes(taken) {
			n.sleep = append(n.sleep, *s)
		}
	}
	for i := range parent.effects[:parent.at] {
		if c := parent.choices[i]; c.Plain() && !parent.sleeps(c) && parent.effects[i].commutes(taken) {
			n.sleep = append(n.sleep, sleeper{c, parent.effects[i].copy(Effect{})})
		}
	}
}

func (n *node) sleeps(c Choice) bool {
	return slices.ContainsFunc(n.sleep, func(s sleeper) bool { return s.choice == c })
}

// advance moves n to its next choice that is within the budgets and not asleep. It records an
// effect that commutes with nothing for each choice that it skips, since the real effect is not
// known.
func (n *node) advance(x *Exhaustive) bool {
	for n.at++; n.at < len(n.choices); n.at++ {
		c := n.choices[n.at]
		switch {
		case !c.Plain() && n.before == x.level:
		case n.sleeps(c):
			x.Pruned++
		default:
			return true
		}
		n.effects = append(n.effects[:n.at], Effect{Global: true})
	}
	return false
}
