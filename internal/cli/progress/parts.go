package progress

import (
	"fmt"
	"io"
	"time"
)

// Parts is the progress of work in parts, each with several designs: a line for every part of
// a design or, on a terminal, one line that is rewritten. All methods may be called
// concurrently once Total and Deadline are set.
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

// Now shows the current part and design, and the time left.
func (p *Parts) Now(part, design string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(fmt.Sprintf("%s: %s ...", part, design))
}

// Finished shows the result of a part of a design.
func (p *Parts) Finished(part, design, gist string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.line(fmt.Sprintf("%s: %s: %s", part, design, gist))
}

// line writes a line, on a terminal over the last one. p.mu is held.
func (p *Parts) line(text string) {
	text = fmt.Sprintf("[%d/%d%s] %s", p.done, p.Total, until(p.Deadline), text)
	p.clear()
	if p.redrawn {
		fmt.Fprint(p.w, text)
		return
	}
	fmt.Fprintln(p.w, text)
}

// Close removes the line that is rewritten.
func (p *Parts) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
