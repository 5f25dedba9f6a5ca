package explore

import (
	"fmt"
	"regexp"
	"strings"
)

// replayed follows the lines of a replay file, exactly. That clocks are right and
// that time passes while nobody can go on need not be said.
type replayed struct {
	lines      []line
	next       int
	halted     bool
	divergence string
	show       func(choice) string // how the world would note a choice
}

// begin implements strategy.
func (r *replayed) begin() bool { return true }

// took implements strategy.
func (r *replayed) took(*effect) {}

// choose implements strategy.
func (r *replayed) choose(p point) int {
	implied := p.choices[0].verb != verbRun
	if r.next == len(r.lines) && implied {
		return 0
	}
	if r.next == len(r.lines) {
		r.divergence = fmt.Sprintf("the schedule goes on after step %d, the last of the file; hint: end it with %q", r.next, "all stop")
		return stop
	}
	l := r.lines[r.next]
	r.next++
	if l.verb == verbStop {
		r.halted = true
		return stop
	}
	found := none
	for i, c := range p.choices {
		if c.verb == l.choice.verb && c.actor == l.choice.actor && c.at == l.choice.at && (found == none || r.fits(c, l)) {
			found = i
		}
	}
	if found == none && implied {
		r.next--
		return 0
	}
	if found == none {
		r.divergence = fmt.Sprintf("step %d, %q, cannot be made; what can: %s", r.next, l, r.offered(p))
		return stop
	}
	return found
}

func (r *replayed) offered(p point) string {
	var all []string
	for _, c := range p.choices {
		all = append(all, fmt.Sprintf("%q", r.show(c)))
	}
	return strings.Join(all, ", ")
}

var tokenName = regexp.MustCompile(`token#\d+`)

// fits reports whether the line is about the command of c, for random values by any
// name.
func (r *replayed) fits(c choice, l line) bool {
	shown := tokenName.ReplaceAllString(r.show(c), "token#")
	return strings.HasPrefix(tokenName.ReplaceAllString(l.String(), "token#"), shown)
}
