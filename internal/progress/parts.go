package progress

import (
	"fmt"
	"io"
	"time"
)

// Parts is the progress of work in parts, each of several designs: a line for every part of
// a design or, on a terminal, one that is written anew. All methods may be called concurrently
// once Total and Deadline are set.
type Parts struct {
	writer
	Total    int
	Deadline time.Time // zero: unknown
	done     int
}

// OfParts shows progress on w, or none when quiet.
func OfParts(w io.Writer, quiet bool) *Parts {
	if quiet {
		w = io.Discard
	}
	return &Parts{writer: writer{w: w, redrawn: isTerminal(w)}}
}

// Now says what is under way, and how long all will take.
func (p *Parts) Now(part, design string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(fmt.Sprintf("%s: %s ...", part, design))
}

// Finished says what came of a part of a design.
func (p *Parts) Finished(part, design, gist string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.line(fmt.Sprintf("%s: %s: %s", part, design, gist))
}

// line writes a line, on a terminal over the last one. p.mu is held.
func (p *Parts) line(text string) {
	left := ""
	if until := time.Until(p.Deadline); !p.Deadline.IsZero() && until > 0 {
		left = fmt.Sprintf(" %v left", until.Round(time.Second))
	}
	text = fmt.Sprintf("[%d/%d%s] %s", p.done, p.Total, left, text)
	p.clear()
	if p.redrawn {
		fmt.Fprint(p.w, text)
		return
	}
	fmt.Fprintln(p.w, text)
}

// Close takes the line away that is written anew.
func (p *Parts) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
