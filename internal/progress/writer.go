package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/charmbracelet/x/ansi"
	"github.com/schollz/progressbar/v3"

	"github.com/lockbench/lockbench/internal/legible"
)

// redraw is how often a bar moves.
const redraw = 200 * time.Millisecond

// A writer writes lines, by one goroutine at a time.
type writer struct {
	mu sync.Mutex
	w  io.Writer
	// redrawn: the last line is one that comes back by itself, so that others take its place.
	redrawn bool
}

// Say writes a line. It may be called concurrently. Where lines come back, one that says what is being done,
// and so ends in "...", stands until the next.
func (w *writer) Say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
	text := legible.Text(fmt.Sprintf(format, args...))
	if w.redrawn && strings.HasSuffix(text, " ...") {
		fmt.Fprint(w.w, within(w.w, text, 1))
		return
	}
	fmt.Fprintln(w.w, text)
}

// say is Say for a text, as sinks have it.
func (w *writer) say(text string) { w.Say("%s", text) }

// clear clears the line that comes back. w.mu is held.
func (w *writer) clear() {
	if w.redrawn {
		fmt.Fprint(w.w, "\r\x1b[K")
	}
}

// isTerminal: w is a terminal.
func isTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// barWidth is how long a bar is, and besideBar what the text before it leaves to the bar, its share
// and the last column: a line that reaches it may go on in the next, and would not be redrawn.
const (
	barWidth  = 10
	besideBar = barWidth + len(" 100% ||") + 2
)

// drawn is a bar on w that goes to most, with a text before it.
func drawn(w io.Writer, most int64, text string) *progressbar.ProgressBar {
	return progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetDescription(text),
		progressbar.OptionSetRenderBlankState(true),
	)
}

// fit cuts off what a terminal has no room for beside a bar.
func fit(w io.Writer, text string) string { return within(w, text, besideBar) }

// within cuts off what a terminal has no room for, where so many columns stay free.
func within(w io.Writer, text string, free int) string {
	f, isFile := w.(*os.File)
	if !isFile {
		return text
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return text
	}
	return ansi.Truncate(text, max(0, width-free), "…")
}
