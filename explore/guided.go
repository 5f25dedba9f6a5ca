package explore

// guided follows a list of choices as far as they can be made, leaving out what
// cannot, and then lets everybody come to an end one after the other: for schedules
// that resemble a known one.
type guided struct {
	wishes []choice
	next   int
	last   int // the actor of the last step
	halted bool
}

// begin implements strategy.
func (g *guided) begin() bool {
	g.next, g.last, g.halted = 0, noActor, false
	return true
}

// took implements strategy.
func (g *guided) took(*effect) {}

// choose implements strategy.
func (g *guided) choose(p point) int {
	i := g.wished(p)
	if i == none {
		i = g.otherwise(p)
	}
	if i != stop && p.choices[i].actor != noActor {
		g.last = p.choices[i].actor
	}
	return i
}

const none = -2

// wished is the next wish that can be made. Before clients begin, and while nobody
// can run, those about commands stay for later.
func (g *guided) wished(p point) int {
	first := p.choices[0].verb
	for g.next < len(g.wishes) {
		wish := g.wishes[g.next]
		i := match(p, wish)
		if i == none && first != verbRun && wish.verb != first {
			return none
		}
		g.next++
		if wish.verb == verbStop {
			g.halted = true
			return stop
		}
		if i != none {
			return i
		}
	}
	return none
}

// match finds a wish among the choices: the same, or what comes closest.
func match(p point, wish choice) int {
	near := none
	for i, c := range p.choices {
		switch {
		case c == wish:
			return i
		case c.verb != wish.verb || c.actor != wish.actor || near != none:
		case c.verb == verbMove && c.nth == wish.nth:
			near = i
		case c.verb == verbRun && wish.nth < lateCommand && c.nth < lateCommand:
			near = i
		case c.verb != verbMove && c.verb != verbRun && c.verb != verbSkew:
			near = i
		}
	}
	return near
}

// otherwise goes on with the last actor, else with the first.
func (g *guided) otherwise(p point) int {
	first := none
	for i, c := range p.choices {
		if !c.plain() {
			continue
		}
		if c.actor == g.last {
			return i
		}
		if first == none {
			first = i
		}
	}
	return first
}

// halts reports whether the schedule was ended where its last wish says.
func (g *guided) halts() bool { return g.halted }
