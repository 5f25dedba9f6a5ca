package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

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

// Say writes a line. It may be called concurrently.
func (w *writer) Say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
	fmt.Fprintln(w.w, legible.Text(fmt.Sprintf(format, args...)))
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
