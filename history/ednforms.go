package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// formReader splits EDN text into its top-level maps, so that each can be parsed alone
// and named by its line. Maps may stand one after another, or in one vector or
// list, and may carry a tag. Nothing but brackets, strings, characters and
// comments is understood here; the rest is the EDN parser's.
type formReader struct {
	in    *bufio.Reader
	line  int // of the byte read last, from 1
	outer int // brackets of a vector or list around the maps
	start int // line on which the form just returned begins
	// ended: the vector around the maps is closed.
	ended bool
}

const (
	maxForm  = 1 << 20 // bytes of one map at most
	maxDepth = 32      // of brackets inside it
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

// form returns a map whose opening brace was read.
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

// literal copies a string up to its closing quote, or the character after a
// backslash: brackets in them count for nothing.
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
