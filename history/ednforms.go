package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A formReader splits EDN text into its top-level maps, so that each is parsed by itself and errors
// name its line. The maps may follow one another, or stand in one vector or list, and may have a
// tag. A formReader only understands brackets, strings, characters and comments; the EDN parser
// does the rest.
type formReader struct {
	in    *bufio.Reader
	line  int // of the last byte read, from 1
	outer int // brackets of a vector or list around the maps
	start int // first line of the form returned last
	// ended: the vector around the maps is closed.
	ended bool
}

const (
	maxForm  = 1 << 20 // largest size of one map, in bytes
	maxDepth = 32      // deepest nesting of brackets in a map
)

var errFormEnds = errors.New("the file ends inside a map")

// next returns the next map, or io.EOF.
func (f *formReader) next() (string, error) {
	for {
		b, err := f.read()
		if err != nil {
			if errors.Is(err, io.EOF) && f.outer > 0 {
				return "", errors.New("the file ends inside the vector")
			}
			return "", err
		}
		switch {
		case strings.IndexByte(" \t\r\n,", b) >= 0:
		case b == ';':
			f.comment()
		case b == '{':
			f.start = f.line
			return f.form()
		case b == '#':
			if err := f.tag(); err != nil {
				return "", err
			}
		case (b == '[' || b == '(') && f.outer == 0 && !f.ended:
			f.outer++
		case (b == ']' || b == ')') && f.outer > 0:
			f.outer--
			f.ended = true
		default:
			return "", fmt.Errorf("%q where a map should begin", b)
		}
	}
}

func (f *formReader) read() (byte, error) {
	b, err := f.in.ReadByte()
	if f.line == 0 {
		f.line = 1
	}
	if err == nil && b == '\n' {
		f.line++
	}
	return b, err
}

func (f *formReader) comment() {
	for b, err := f.read(); err == nil && b != '\n'; b, err = f.read() {
	}
}

// tag skips the name of a tagged map: #jepsen.history.Op{...}.
func (f *formReader) tag() error {
	for range 128 {
		b, err := f.read()
		switch {
		case err != nil:
			return errFormEnds
		case b == '{':
			return f.in.UnreadByte()
		case strings.IndexByte("\"[(_", b) >= 0:
			return fmt.Errorf("%q after # where a tag should be", b)
		}
	}
	return errors.New("a tag without a map")
}

// form returns the rest of a map, after its opening brace was read.
func (f *formReader) form() (string, error) {
	text := strings.Builder{}
	text.WriteByte('{')
	for depth := 1; depth > 0; {
		b, err := f.read()
		if err != nil {
			return "", errFormEnds
		}
		text.WriteByte(b)
		switch b {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ';':
			f.comment()
			text.WriteByte('\n')
		case '"', '\\':
			if err := f.literal(b, &text); err != nil {
				return "", err
			}
		}
		if text.Len() > maxForm || depth > maxDepth {
			return "", fmt.Errorf("a map with more than %d bytes or %d levels", maxForm, maxDepth)
		}
	}
	return text.String(), nil
}

// literal copies a string up to its closing quote, or the character after a backslash: brackets in
// them do not count.
func (f *formReader) literal(quote byte, text *strings.Builder) error {
	for escaped := quote == '\\'; text.Len() <= maxForm; {
		b, err := f.read()
		if err != nil {
			return errFormEnds
		}
		text.WriteByte(b)
		switch {
		case quote == '\\', b == '"' && !escaped:
			return nil
		}
		escaped = b == '\\' && !escaped
	}
	return nil
}
