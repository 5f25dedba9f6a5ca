package strategy

// Guided follows a list of choices, skips impossible ones, and then lets every
// actor come to an end, one after the other: for schedules that resemble a known
// one.
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

// None is an index that no choice has, different from Stop.
const None = -2

// matching is the next wish that can be made. Wishes about commands stay for later
// before clients begin, and while nobody can run.
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

// match finds a wish among the choices: the same, or the closest.
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

// fallback goes on with the last actor, else with the first.
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

// Halts reports whether the last wish ended the schedule.
func (g *Guided) Halts() bool { return g.halted }
