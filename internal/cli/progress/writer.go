package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/schollz/progressbar/v3"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/wrap"
)

// redraw is the interval between two redraws of a bar.
const redraw = 200 * time.Millisecond

// A writer writes lines, by one goroutine at a time.
type writer struct {
	mu sync.Mutex
	w  io.Writer
	// redrawn means that the last line is redrawn, so that others replace it.
	redrawn bool
	// lasting leaves out lines that say what is being done, unless the last line is redrawn.
	lasting bool
}

// Say writes a line. It may be called concurrently. A line that ends in "..." says what is being done:
// if the last line is redrawn, it stays until the next.
func (w *writer) Say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
	text := legible.Text(fmt.Sprintf(format, args...))
	if strings.HasSuffix(text, " ...") {
		switch {
		case w.redrawn:
			fmt.Fprint(w.w, within(w.w, text, 1))
			return
		case w.lasting:
			return
		}
	}
	fmt.Fprintln(w.w, wrap.Fit(w.w, text))
}

// say is Say for a sink.
func (w *writer) say(text string) { w.Say("%s", text) }

// clear clears the redrawn line. w.mu is held.
func (w *writer) clear() {
	if w.redrawn {
		fmt.Fprint(w.w, "\r\x1b[K")
	}
}

// left describes the time that work will take yet, of which a share was done since it started; empty
// if that is unknown or nothing to speak of.
func left(started time.Time, share float64) string {
	if started.IsZero() || share <= 0 {
		return ""
	}
	took := time.Since(started)
	rest := (time.Duration(float64(took)/share) - took).Round(time.Second)
	if rest < time.Second {
		return ""
	}
	return fmt.Sprintf(" %v left", rest)
}

// until describes the time until a deadline; empty if there is none or it has passed.
func until(deadline time.Time) string {
	rest := time.Until(deadline)
	if deadline.IsZero() || rest <= 0 {
		return ""
	}
	return fmt.Sprintf(" %v left", rest.Round(time.Second))
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	_, is := wrap.Terminal(w)
	return is
}

// barWidth is the length of a bar, and besideBar the room that the text before it leaves for the
// bar, its percentage and the last column: a line that reaches the last column may wrap, and would
// not be redrawn.
const (
	barWidth  = 10
	besideBar = barWidth + len(" 100% ||") + 2
)

// drawn returns a bar on w that goes to most, with a text before it.
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

// fit shortens text to the room beside a bar on a terminal.
func fit(w io.Writer, text string) string { return within(w, text, besideBar) }

// within shortens text to the width of a terminal less free columns.
func within(w io.Writer, text string, free int) string {
	width, _ := wrap.Terminal(w)
	if width == 0 {
		return text
	}
	return ansi.Truncate(text, max(0, width-free), "…")
}
