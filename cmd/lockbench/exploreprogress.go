package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/reports"
)

// exploreProgress tells somebody who waits how far an exploration has come. It
// says nothing that the result does not say too. All methods may be called
// concurrently: several designs are explored at a time.
type exploreProgress interface {
	say(format string, args ...any)
	begin(design string)
	tell(design, scenario string, p explore.Progress)
	end(design string, runs []reports.Explored)
	close()
}

// newExploreProgress shows a bar on a terminal and plain lines elsewhere, for an
// exploration of so many designs in so many scenarios each.
func newExploreProgress(w io.Writer, quiet bool, designs, scenarios int) exploreProgress {
	if quiet {
		return exploreSilence{}
	}
	out := newExploreLines(w, designs)
	if f, isFile := w.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
		return newExploreBar(out, scenarios)
	}
	return out
}

// exploreSilence is the progress of explore -q.
type exploreSilence struct{}

func (exploreSilence) say(string, ...any)                    {}
func (exploreSilence) begin(string)                          {}
func (exploreSilence) tell(string, string, explore.Progress) {}
func (exploreSilence) end(string, []reports.Explored)        {}
func (exploreSilence) close()                                {}

// exploreLines writes a line at the start and the end of every design, and when
// one of its cells is found broken. Errors of writing are dropped, as in lines.
type exploreLines struct {
	mu          sync.Mutex
	w           io.Writer
	total       int
	begun, done int
	broken      map[string]bool // design and cell
}

func newExploreLines(w io.Writer, designs int) *exploreLines {
	return &exploreLines{w: w, total: designs, broken: map[string]bool{}}
}

func (l *exploreLines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, format+"\n", args...)
}

func (l *exploreLines) begin(design string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
	fmt.Fprintf(l.w, "[%d/%d] %s ...\n", l.begun, l.total, design)
}

func (l *exploreLines) tell(design, scenario string, p explore.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cell := range l.news(design, p.Broken) {
		fmt.Fprintf(l.w, "%s %s: %s is broken, after %d schedules\n", design, scenario, cell, p.Schedules)
	}
}

// news are those of the design's broken cells that were not known. l.mu is held.
func (l *exploreLines) news(design string, broken []lockbench.Cell) []lockbench.Cell {
	var fresh []lockbench.Cell
	for _, cell := range broken {
		if name := design + " " + cell.String(); !l.broken[name] {
			l.broken[name] = true
			fresh = append(fresh, cell)
		}
	}
	return fresh
}

func (l *exploreLines) end(design string, runs []reports.Explored) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	fmt.Fprintf(l.w, "[%d/%d done] %s: %s\n", l.done, l.total, design, exploreGist(runs))
}

func (l *exploreLines) close() {}

// exploreGist is what was found of a design in a few words.
func exploreGist(runs []reports.Explored) string {
	var schedules int64
	var broken []lockbench.Cell
	for i := range runs {
		if runs[i].Err != nil {
			return runs[i].Header.Workload + ": " + runs[i].Err.Error()
		}
		schedules += runs[i].Coverage.Schedules
		broken = append(broken, brokenCells(runs[i].Verdicts.Findings)...)
	}
	s := fmt.Sprintf("%d schedules", schedules)
	if len(broken) > 0 {
		slices.SortFunc(broken, lockbench.Cell.Compare)
		s += ", broke " + cellNames(slices.Compact(broken))
	}
	return s
}

// brokenCells lists the cells that were broken.
func brokenCells(all []checker.Finding) (cells []lockbench.Cell) {
	for _, f := range all {
		if f.Verdict == checker.Broken {
			cells = append(cells, f.Cell)
		}
	}
	return cells
}

// exploreBar redraws one line a few times a second, with what was heard last, and
// takes it away at the end.
type exploreBar struct {
	*exploreLines
	bar       *progressbar.ProgressBar
	schedules map[string]int64 // by design and scenario
	drawn     time.Time
}

func newExploreBar(out *exploreLines, scenarios int) *exploreBar {
	return &exploreBar{
		exploreLines: out, schedules: map[string]int64{},
		bar: progressbar.NewOptions(out.total*scenarios+1, // it would take itself for finished
			progressbar.OptionSetWriter(out.w),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetRenderBlankState(true),
		),
	}
}

func (b *exploreBar) begin(string) {}

func (b *exploreBar) tell(design, scenario string, p explore.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.schedules[design+" "+scenario] = p.Schedules
	b.news(design, p.Broken)
	if time.Since(b.drawn) >= redraw {
		b.draw(design + " " + scenario)
	}
}

func (b *exploreBar) draw(what string) {
	var sum int64
	for _, n := range b.schedules {
		sum += n
	}
	b.drawn = time.Now()
	b.bar.Describe(fmt.Sprintf("[%d/%d] %-33s %9d schedules  %d broken so far", b.done, b.total, what, sum, len(b.broken)))
	_ = b.bar.Set(len(b.schedules)) // scenarios begun
}

func (b *exploreBar) end(design string, _ []reports.Explored) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	b.draw(design)
}

func (b *exploreBar) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.bar.Clear()
}

// say writes its line in place of the bar, which comes back by itself.
func (b *exploreBar) say(format string, args ...any) {
	b.exploreLines.say("\r\x1b[K"+format, args...)
}
