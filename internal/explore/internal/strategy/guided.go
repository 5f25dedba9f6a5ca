package strategy

// Guided makes the given Choices in order, skips impossible ones, and then lets every actor finish,
// one after the other. It makes schedules that resemble a known one.
type Guided struct {
	Choices []Choice
	next    int
	last    int // the actor of the last step
	halted  bool
}

// Begin implements Chooser.
func (g *Guided) Begin() bool {
	g.next, g.last, g.halted = 0, NoActor, false
	return true
}

// Took implements Chooser.
func (g *Guided) Took(*Effect) {}

// Choose implements Chooser.
func (g *Guided) Choose(p Point) int {
	i := g.matching(p)
	if i == None {
		i = g.fallback(p)
	}
	if i != Stop && p.Choices[i].Actor != NoActor {
		g.last = p.Choices[i].Actor
	}
	return i
}

// None is an index of no choice, and different from Stop.
const None = -2

// matching returns the index of the next of the given Choices that is possible. Choices of commands
// are kept for later before clients begin, and while no client can run.
func (g *Guided) matching(p Point) int {
	first := p.Choices[0].Verb
	for g.next < len(g.Choices) {
		wish := g.Choices[g.next]
		i := match(p, wish)
		if i == None && first != VerbRun && wish.Verb != first {
			return None
		}
		g.next++
		if wish.Verb == VerbStop {
			g.halted = true
			return Stop
		}
		if i != None {
			return i
		}
	}
	return None
}

// match returns the index of the choice at p that is equal to wish, or nearest to it.
func match(p Point, wish Choice) int {
	near := None
	for i, c := range p.Choices {
		switch {
		case c == wish:
			return i
		case c.Verb != wish.Verb || c.Actor != wish.Actor || near != None:
		case c.Verb.Passes() && c.Nth == wish.Nth:
			near = i
		case c.Verb == VerbRun && wish.Nth < LateCommand && c.Nth < LateCommand:
			near = i
		case !c.Verb.Timed() && c.Verb != VerbRun:
			near = i
		}
	}
	return near
}

// fallback continues with the last actor if possible, else with the first.
func (g *Guided) fallback(p Point) int {
	first := None
	for i, c := range p.Choices {
		if !c.Plain() {
			continue
		}
		if c.Actor == g.last {
			return i
		}
		if first == None {
			first = i
		}
	}
	return first
}

// Halts reports whether the last of the given Choices ended the schedule.
func (g *Guided) Halts() bool { return g.halted }
