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

// OfExploration shows a bar on a terminal and plain lines elsewhere, for an exploration of a number of
// designs, each in a number of scenarios; nothing if quiet.
func OfExploration(w io.Writer, quiet bool, designs, scenarios int) Exploration {
	switch {
	case quiet:
		return newExplorationLines(io.Discard, designs)
	case isTerminal(w):
		return newExplorationBar(w, designs, scenarios)
	}
	return newExplorationLines(w, designs)
}

// explorationLines writes a line at the start and the end of every design, and when one of
// its cells breaks.
type explorationLines struct {
	writer
	total       int
	begun, done int
	broken      map[string]bool // design and cell
}

func newExplorationLines(w io.Writer, designs int) *explorationLines {
	return &explorationLines{writer: writer{w: w}, total: designs, broken: map[string]bool{}}
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
	fmt.Fprintf(l.w, "[%d/%d] %s ...\n", l.begun, l.total, design)
}

func (l *explorationLines) soFar(design, scenario string, p explore.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cell := range l.news(design, p.Broken) {
		fmt.Fprintf(l.w, "%s %s: %s is broken, after %d schedules\n", design, scenario, cell, p.Schedules)
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

func (l *explorationLines) end(design string, runs []results.Explored) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	fmt.Fprintf(l.w, "[%d/%d done] %s: %s\n", l.done, l.total, design, ExplorationGist(runs))
}

// explorationBar redraws one line a few times a second, with the latest news, and removes it
// at the end.
type explorationBar struct {
	*explorationLines
	bar       *progressbar.ProgressBar
	schedules map[string]int64 // by design and scenario
	of        int              // number of designs and scenarios
	started   time.Time
	drawn     time.Time
}

func newExplorationBar(w io.Writer, designs, scenarios int) *explorationBar {
	b := &explorationBar{explorationLines: newExplorationLines(w, designs), schedules: map[string]int64{}, of: designs * scenarios, started: time.Now()}
	b.redrawn = true
	b.bar = drawn(w, int64(designs*scenarios+1), "") // plus one, because at its end the bar would consider itself finished
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
	if time.Since(b.drawn) >= redraw {
		b.draw(design + " " + scenario)
	}
}

func (b *explorationBar) draw(what string) {
	var sum int64
	for _, n := range b.schedules {
		sum += n
	}
	b.drawn = time.Now()
	b.bar.Describe(fit(b.w, fmt.Sprintf("[%d/%d%s] %9d schedules, %d broken: %s", b.done, b.total, left(b.started, float64(len(b.schedules))/float64(b.of)), sum, len(b.broken), what)))
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
