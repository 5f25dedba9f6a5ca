package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Open opens the history in a file: native, JSON Lines or EDN, by its first bytes. The Source is
// also an io.Closer; it closes itself when its Events have been read to the end.
func Open(path string) (Source, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("history: %s is a directory; hint: give the file of one run", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w; hint: give the file of one run", err)
	}
	src, err := NewSource(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &fileSource{src, f}, nil
}

// A fileSource is a Source with its file.
type fileSource struct {
	Source
	file *os.File
}

func (o *fileSource) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		defer o.Close()
		o.Source.Events()(yield)
	}
}

// Close closes the file. Closing again does nothing.
func (o *fileSource) Close() error {
	if err := o.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// NewSource reads a history in any of the three formats, which it tells apart by the first bytes.
func NewSource(r io.Reader) (Source, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for size := 1; ; size++ {
		head, err := in.Peek(max(size, min(in.Buffered(), maxBlank)))
		size = len(head)
		read, known := readerOf(head)
		switch {
		case read != nil:
			return read(in)
		case known, err != nil, size >= maxBlank:
			return nil, unreadable(head, err)
		}
	}
}

// maxBlank bounds the blank bytes at the start of a history.
const maxBlank = 4096

// readerOf returns the reader of a history that begins with head, nil if there is none, and whether
// head is long enough to know. It only looks at the first bytes, so that a growing history can be
// read.
func readerOf(head []byte) (read func(io.Reader) (Source, error), known bool) {
	if len(head) > 0 && head[0] == magic[0] {
		return readNative, true
	}
	text := skipBlank(head)
	switch {
	case len(text) == 0:
		return nil, false
	case bytes.IndexByte([]byte("[(#;"), text[0]) >= 0:
		return readEDN, true
	case text[0] != '{':
		return nil, true
	}
	switch inner := skipBlank(text[1:]); {
	case len(inner) == 0:
		return nil, false
	case inner[0] == '"':
		return readJSONL, true
	}
	return readEDN, true
}

// unreadable returns the error for a history that begins with head, after which reading failed with
// err.
func unreadable(head []byte, err error) error {
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("history: %w", err)
	case len(head) == 0:
		return errors.New("history: it is empty: nothing was ever recorded; hint: give the file of a run")
	}
	return fmt.Errorf("history: it is no history: it begins with %q; hint: native, JSON Lines and Jepsen's EDN are read", head[:min(len(head), 16)])
}

func skipBlank(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n,") }
