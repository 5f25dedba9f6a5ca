package strategy

import (
	"fmt"
	"slices"
)

// Exhaustive goes depth first through all schedules: first those without any fault
// or move of time, then those with one, and so on, so that the first to show
// something is among the simplest. With reduction it leaves out what differs from a
// schedule it went through only in the order of steps that commute (sleep sets,
// Godefroid 1996); SOUNDNESS.md proves that nothing is lost.
type Exhaustive struct {
	reduce        bool
	faults, moves int // the budgets

	level   int // how many faults and moves the schedules of this pass have
	begun   bool
	path    []*node // the choices made so far, in use up to depth
	depth   int
	asleep  bool // the schedule under way was given up: all that can follow is known
	used    int  // faults and moves of the schedule under way
	deepest int  // the most that a schedule of the pass had

	// Pruned counts the branches left out, of all passes.
	Pruned int64
	// Diverged counts the schedules that went another way than one that began alike, and were
	// dropped with what would have followed them: lock code does what no seed decides.
	Diverged int64
	// Varied: time could be moved to other instants than in a schedule that began alike. None is
	// dropped for that, but not all instants are gone through.
	Varied bool
	// Divergence says how the first of them did.
	Divergence string
}

// A node is one point of the schedule under way.
type node struct {
	choices []Choice
	at      int      // which of them is being explored
	effects []Effect // what those up to at did
	sleep   []sleeper
	before  int // faults and moves made before
}

// A sleeper is a choice that need not be made, since a schedule with it made here
// was explored, until something is done that does not commute with it.
type sleeper struct {
	choice Choice
	effect Effect
}

// NewExhaustive goes through schedules with so many faults and moves of time at most, each
// order of commuting steps once where it is to reduce.
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

// restart begins a schedule that follows path as far as it goes.
func (x *Exhaustive) restart() { x.depth, x.used, x.asleep = 0, 0, false }

// Fresh reports whether the schedule just run is none of an earlier pass, nor given
// up.
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

// sameStep reports whether a and b are the same choice at the same point, though perhaps to
// another instant: lock code may wait for a time that no seed decides.
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
	case len(n.effects) > n.at: // known since before
	case cap(n.effects) > n.at:
		n.effects = n.effects[:n.at+1]
		n.effects[n.at] = e.copy(n.effects[n.at])
	default:
		n.effects = append(n.effects, e.copy(Effect{}))
	}
}

// node returns the memory of a node at the present depth, its own or a new one's.
func (x *Exhaustive) node() *node {
	if cap(x.path) > x.depth {
		if n := x.path[:x.depth+1][x.depth]; n != nil {
			return n
		}
	}
	return &node{}
}

// inherit puts to sleep at n what need not be made there: what slept at its parent
// or was explored there already, and commutes with the step that led to n.
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

// advance turns to the next choice of n that the budgets allow and that does not
// sleep. Skipped ones leave an effect that commutes with nothing.
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
