package explore

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// A replayChooser makes exactly the choices in the lines of a replay file. Lines for unskewed
// clocks and for waits without alternative may be missing in the file.
type replayChooser struct {
	lines      []line
	next       int
	halted     bool
	divergence string
	show       func(strategy.Choice) string // shows a choice as the world would note it
}

// Begin implements strategy.Chooser.
func (r *replayChooser) Begin() bool { return true }

// Took implements strategy.Chooser.
func (r *replayChooser) Took(*strategy.Effect) {}

// Choose implements strategy.Chooser.
func (r *replayChooser) Choose(p strategy.Point) int {
	implied := p.Choices[0].Verb != strategy.VerbRun
	if r.next == len(r.lines) && implied {
		return 0
	}
	if r.next == len(r.lines) {
		r.divergence = fmt.Sprintf("the schedule goes on after step %d, the last of the file; hint: end it with %q", r.next, "all stop")
		return strategy.Stop
	}
	l := r.lines[r.next]
	r.next++
	if l.verb == strategy.VerbStop {
		r.halted = true
		return strategy.Stop
	}
	found := strategy.None
	for i, c := range p.Choices {
		if c.Verb == l.choice.Verb && c.Actor == l.choice.Actor && c.At == l.choice.At && (found == strategy.None || r.fits(c, l)) {
			found = i
		}
	}
	if found == strategy.None && l.verb.Passes() {
		found = nearest(p, l.choice)
	}
	if found == strategy.None && implied {
		r.next--
		return 0
	}
	if found == strategy.None {
		r.divergence = fmt.Sprintf("step %d, %q, cannot be made; what can: %s", r.next, l, r.offered(p))
		return strategy.Stop
	}
	return found
}

// timeTolerance bounds the difference between a time in a file and the one that is offered instead:
// lock code may choose timeouts that no seed decides.
const timeTolerance = 50 * time.Millisecond

// nearest returns the choice of the same kind with the nearest time, within timeTolerance.
func nearest(p strategy.Point, to strategy.Choice) int {
	found, least := strategy.None, timeTolerance
	for i, c := range p.Choices {
		if off := max(c.At-to.At, to.At-c.At); c.Verb == to.Verb && off < least {
			found, least = i, off
		}
	}
	return found
}

func (r *replayChooser) offered(p strategy.Point) string {
	var all []string
	for _, c := range p.Choices {
		all = append(all, fmt.Sprintf("%q", r.show(c)))
	}
	return strings.Join(all, ", ")
}

var tokenName = regexp.MustCompile(`token#\d+`)

// fits reports whether the line is about the command of c. The names of random values may differ.
func (r *replayChooser) fits(c strategy.Choice, l line) bool {
	shown := tokenName.ReplaceAllString(r.show(c), "token#")
	return strings.HasPrefix(tokenName.ReplaceAllString(l.String(), "token#"), shown)
}
