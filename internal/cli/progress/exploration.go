package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/results"
)

// Exploration is the progress of an exploration, of several designs at a time.
type Exploration interface {
	Sink() exploring.Sink
	Close()
}

// OfExploration shows a bar on a terminal and plain lines elsewhere for the exploration of a plan;
// nothing if quiet.
func OfExploration(w io.Writer, quiet bool, plan exploring.Plan) Exploration {
	switch {
	case quiet:
		return newExplorationLines(io.Discard, plan)
	case isTerminal(w):
		return newExplorationBar(w, plan)
	}
	return newExplorationLines(w, plan)
}

// restated is the interval between two lines that say how far an exploration is.
const restated = 10 * time.Second

// explorationLines writes a line at the start and the end of every design, when one of its cells
// breaks, and now and then how far the exploration is.
type explorationLines struct {
	writer
	plan        exploring.Plan
	begun, done int
	broken      map[string]bool  // design and cell
	schedules   map[string]int64 // by design and scenario
	started     time.Time
	deadline    time.Time // the latest end; zero if the plan has no time limit
	told        time.Time // when it was last said how far the exploration is
}

func newExplorationLines(w io.Writer, plan exploring.Plan) *explorationLines {
	now := time.Now()
	l := &explorationLines{writer: writer{w: w}, plan: plan, broken: map[string]bool{}, schedules: map[string]int64{}, started: now, told: now}
	if longest := plan.Longest(); longest > 0 {
		l.deadline = now.Add(longest)
	}
	return l
}

// Sink returns a sink that writes the lines.
func (l *explorationLines) Sink() exploring.Sink {
	return exploring.Sink{Say: l.say, Begin: l.begin, SoFar: l.soFar, End: l.end}
}

// Close implements [Exploration].
func (*explorationLines) Close() {}

func (l *explorationLines) begin(design string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
	fmt.Fprintf(l.w, "[%d/%d] %s ...\n", l.begun, len(l.plan.Designs), design)
}

func (l *explorationLines) soFar(design, scenario string, p explore.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.schedules[design+" "+scenario] = p.Schedules
	for _, cell := range l.news(design, p.Broken) {
		fmt.Fprintf(l.w, "%s %s: %s is broken, after %d schedules\n", design, scenario, cell, p.Schedules)
	}
	if time.Since(l.told) >= restated {
		l.told = time.Now()
		fmt.Fprintln(l.w, l.state(design+" "+scenario))
	}
}

// news returns the design's newly broken cells. l.mu is held.
func (l *explorationLines) news(design string, broken []lockbench.Cell) []lockbench.Cell {
	var fresh []lockbench.Cell
	for _, cell := range broken {
		if name := design + " " + cell.String(); !l.broken[name] {
			l.broken[name] = true
			fresh = append(fresh, cell)
		}
	}
	return fresh
}

// state says how far the exploration is: designs done, time left, schedules, broken claims, and what
// is under way. l.mu is held.
func (l *explorationLines) state(what string) string {
	var sum int64
	for _, n := range l.schedules {
		sum += n
	}
	rest := until(l.deadline)
	if l.deadline.IsZero() {
		rest = left(l.started, float64(len(l.schedules))/float64(l.parts()))
	}
	return fmt.Sprintf("[%d/%d%s] %9d schedules, %d broken: %s", l.done, len(l.plan.Designs), rest, sum, len(l.broken), what)
}

// parts returns the number of designs and scenarios.
func (l *explorationLines) parts() int { return len(l.plan.Designs) * len(l.plan.Scenarios) }

func (l *explorationLines) end(design string, runs []results.Explored) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	fmt.Fprintf(l.w, "[%d/%d done] %s: %s\n", l.done, len(l.plan.Designs), design, ExplorationGist(runs))
}

// explorationBar redraws one line a few times a second, with the latest news, and removes it
// at the end.
type explorationBar struct {
	*explorationLines
	bar *progressbar.ProgressBar
}

func newExplorationBar(w io.Writer, plan exploring.Plan) *explorationBar {
	b := &explorationBar{explorationLines: newExplorationLines(w, plan)}
	b.redrawn, b.told = true, time.Time{}    // drawn at once
	b.bar = drawn(w, int64(b.parts()+1), "") // plus one, because at its end the bar would consider itself finished
	return b
}

// Sink returns a sink that moves the bar.
func (b *explorationBar) Sink() exploring.Sink {
	return exploring.Sink{Say: b.say, Begin: func(string) {}, SoFar: b.soFar, End: b.end}
}

func (b *explorationBar) soFar(design, scenario string, p explore.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.schedules[design+" "+scenario] = p.Schedules
	b.news(design, p.Broken)
	if time.Since(b.told) >= redraw {
		b.draw(design + " " + scenario)
	}
}

func (b *explorationBar) draw(what string) {
	b.told = time.Now()
	b.bar.Describe(fit(b.w, b.state(what)))
	_ = b.bar.Set(len(b.schedules)) // number of scenarios begun
}

func (b *explorationBar) end(design string, _ []results.Explored) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	b.draw(design)
}

// Close removes the bar.
func (b *explorationBar) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.bar.Clear()
}
