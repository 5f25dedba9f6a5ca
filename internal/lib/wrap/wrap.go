// Package wrap breaks text into lines that fit a terminal.
package wrap

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Width is the width of a terminal that nobody made wider, in columns.
const Width = 80

// Terminal returns the width of the terminal that w is, in columns: zero if its width is unknown. It
// returns false if w is no terminal.
func Terminal(w io.Writer) (width int, is bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return width, true
}

// Fit breaks the lines of text that are wider than w, if w is a terminal. An indented line of a lockbench command is
// broken as [Command] does, so that it can be copied.
func Fit(w io.Writer, text string) string {
	width, _ := Terminal(w)
	return fit(text, width)
}

func fit(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "  lockbench ") {
			lines = append(lines, Command(line, width, 4)...)
		} else {
			lines = append(lines, Lines(line, width, 2)...)
		}
	}
	return strings.Join(lines, "\n")
}

// Lines breaks text at spaces into lines of at most width columns; a longer word has a line of its own.
// Lines after the first begin with hang spaces. Names and flags have hyphens, so no line breaks there.
// Escape sequences of colours have no width. A width of zero or less is unlimited.
func Lines(text string, width, hang int) []string {
	if width <= 0 || ansi.StringWidth(text) <= width {
		return []string{text}
	}
	if hang > width/2 {
		hang = 2
	}
	var lines []string
	for line := ""; text != ""; {
		word, rest, _ := strings.Cut(text, " ")
		if line != "" && ansi.StringWidth(line+word) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", hang)
		}
		line, text = line+word+" ", rest
		if text == "" {
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}

// Command is like Lines for a command line: all lines but the last end in a backslash, so that a shell
// reads them as one. It does not break single quotes, within which a backslash ends no line.
func Command(line string, width, hang int) []string {
	if ansi.StringWidth(line) <= width {
		return []string{line}
	}
	lines := Lines(keepQuotes(line), width-len(` \`), hang)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], string(keptSpace), " ")
		if i < len(lines)-1 {
			lines[i] += ` \`
		}
	}
	return lines
}

// keptSpace stands for a space at which no line breaks. It is as wide, and no text has it.
const keptSpace = '\uE000'

// keepQuotes replaces the spaces within single quotes by keptSpace.
func keepQuotes(line string) string {
	quoted, escaped := false, false
	return strings.Map(func(r rune) rune {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && !quoted:
			escaped = true
		case r == '\'':
			quoted = !quoted
		case r == ' ' && quoted:
			return keptSpace
		}
		return r
	}, line)
}

// Paragraphs breaks the paragraphs of a text, which a blank line divides, into lines of at most width
// columns. A paragraph that begins with a space keeps its lines.
func Paragraphs(text string, width int) string {
	all := strings.Split(text, "\n\n")
	for i, p := range all {
		if !strings.HasPrefix(p, " ") {
			all[i] = strings.Join(Lines(strings.ReplaceAll(p, "\n", " "), width, 0), "\n")
		}
	}
	return strings.Join(all, "\n\n")
}
