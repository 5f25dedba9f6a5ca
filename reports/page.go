package reports

import (
	"bufio"
	"fmt"
	"io"
)

// A page is a report being written; its Writer keeps the first error.
type page struct {
	*bufio.Writer
	palette
}

func newPage(w io.Writer, opt TerminalOptions) page {
	return page{bufio.NewWriter(w), palette(opt.Color)}
}

func (p page) printf(format string, args ...any) { fmt.Fprintf(p.Writer, format, args...) }

// palette colours words where the reader's terminal does; text says it all
// without it.
type palette bool

func (p palette) paint(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) bad(s string) string  { return p.paint("1;31", s) }
func (p palette) warn(s string) string { return p.paint("33", s) }
func (p palette) good(s string) string { return p.paint("32", s) }
func (p palette) bold(s string) string { return p.paint("1", s) }
func (p palette) dim(s string) string  { return p.paint("2", s) }
