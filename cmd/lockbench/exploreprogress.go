package main

import (
	"fmt"
	"io"
	"os"
	"strings"
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
// one of its guarantees is found broken. Errors of writing are dropped, as in lines.
type exploreLines struct {
	mu          sync.Mutex
	w           io.Writer
	total       int
	begun, done int
	broken      map[string]bool // design and guarantee
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
	for _, g := range l.news(design, p.Broken) {
		fmt.Fprintf(l.w, "%s %s: %s is broken, after %d schedules\n", design, scenario, g, p.Schedules)
	}
}

// news are those of the design's broken guarantees that were not known. l.mu is
// held.
func (l *exploreLines) news(design string, broken []lockbench.Guarantee) []lockbench.Guarantee {
	var fresh []lockbench.Guarantee
	for _, g := range broken {
		if name := design + " " + string(g); !l.broken[name] {
			l.broken[name] = true
			fresh = append(fresh, g)
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
	broken := map[lockbench.Guarantee]bool{}
	for i := range runs {
		if runs[i].Err != nil {
			return runs[i].Header.Workload + ": " + runs[i].Err.Error()
		}
		schedules += runs[i].Coverage.Schedules
		for _, f := range runs[i].Verdicts.Findings {
			if f.Verdict == checker.Broken {
				broken[f.Guarantee] = true
			}
		}
	}
	s := fmt.Sprintf("%d schedules", schedules)
	if names := inOrder(broken); len(names) > 0 {
		s += ", broke " + strings.Join(names, ", ")
	}
	return s
}

// inOrder lists guarantees as reports do.
func inOrder(set map[lockbench.Guarantee]bool) []string {
	var names []string
	for _, g := range lockbench.Guarantees() {
		if set[g.Name] {
			names = append(names, string(g.Name))
		}
	}
	return names
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
