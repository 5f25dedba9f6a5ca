package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
)

// matrixProgress tells somebody who waits how far a matrix has come: a line for every
// part of a design or, on a terminal, one that is written anew. All methods may be
// called concurrently once total and deadline are set.
type matrixProgress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	total    int
	done     int
	deadline time.Time // zero: unknown
}

// newMatrixProgress shows progress on w, or none when quiet.
func newMatrixProgress(w io.Writer, quiet bool) *matrixProgress {
	if quiet {
		return &matrixProgress{w: io.Discard}
	}
	f, isFile := w.(*os.File)
	return &matrixProgress{w: w, terminal: isFile && term.IsTerminal(int(f.Fd()))}
}

func (p *matrixProgress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

// now says what is under way, and how long all will take.
func (p *matrixProgress) now(part, design string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(fmt.Sprintf("%s: %s ...", part, design))
}

// finished says what came of a part of a design.
func (p *matrixProgress) finished(part, design, gist string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.line(fmt.Sprintf("%s: %s: %s", part, design, gist))
}

// line writes a line, on a terminal over the last one. p.mu is held.
func (p *matrixProgress) line(text string) {
	left := ""
	if until := time.Until(p.deadline); !p.deadline.IsZero() && until > 0 {
		left = fmt.Sprintf(" %v left", until.Round(time.Second))
	}
	text = fmt.Sprintf("[%d/%d%s] %s", p.done, p.total, left, text)
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K", text)
		return
	}
	fmt.Fprintln(p.w, text)
}

func (p *matrixProgress) close() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// matrixLive takes what live runs find into a matrix.
type matrixLive struct {
	*matrixProgress
	session *matrixSession
	part    livePart
	kept    bool // the histories
	ctx     context.Context
	design  string
}

// sink is informed of the live runs. It says nothing of what is broken, for that stands in
// the matrix.
func (l *matrixLive) sink() runner.Sink {
	return runner.Sink{
		Say: func(text string) { l.say("%s", text) },
		Begin: func(of runner.Subject, _ func() runner.Progress) {
			l.design = of.Label()
			l.now(l.part.name, l.design)
		},
		End: l.end,
	}
}

func (l *matrixLive) end(j *reports.Judged) {
	found := *j
	if !l.kept {
		found.History = ""
	}
	p := reports.MatrixPart{
		Name: l.part.name, Command: l.part.command(l.design, l.session.options.seed),
		ElapsedNS: int64(tour().Duration), Complete: l.ctx.Err() == nil,
	}
	if l.design == mutants.SelfCheckName {
		p.MustBreak, p.Command = l.part.mustBreak, ""
	}
	l.session.row(l.design).AddRun(p, &found)
	l.session.save()
	l.finished(l.part.name, l.design, gist(j))
}

// matrixExplored takes what explorations find into a matrix.
type matrixExplored struct {
	*matrixProgress
	session *matrixSession
	config  explore.Config
	ctx     context.Context
	adding  sync.Mutex
}

func (x *matrixExplored) begin(design string) { x.now(partExplore, design) }

func (*matrixExplored) tell(string, string, explore.Progress) {}

func (x *matrixExplored) end(design string, runs []reports.Explored) {
	if len(runs) == 0 {
		return
	}
	x.adding.Lock()
	defer x.adding.Unlock()
	p := reports.MatrixPart{Name: partExplore, Command: exploreCommand(design, x.config), Complete: x.ctx.Err() == nil}
	if design == mutants.SelfCheckName {
		p.MustBreak, p.Command = stale, ""
	}
	x.session.row(design).AddExplored(p, runs)
	x.session.save()
	x.finished(partExplore, design, exploreGist(runs))
}

func (*matrixExplored) close() {}

// exploreCommand explores a design again.
func exploreCommand(design string, c explore.Config) string {
	parts := []string{"lockbench explore", design, fmt.Sprintf("--seed %d", c.Seed)}
	if c.Schedules > 0 {
		parts = append(parts, fmt.Sprintf("--schedules %d", c.Schedules))
	} else {
		parts = append(parts, fmt.Sprintf("--budget %v", c.Budget.Round(time.Millisecond)))
	}
	return strings.Join(parts, " ")
}
