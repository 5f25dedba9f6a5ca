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

// Open opens the history in a file: native, JSON Lines or EDN, told apart by what
// the file begins with. The Source is an io.Closer too; it closes the file by
// itself once its Events were read to the end.
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
	return &opened{src, f}, nil
}

// opened is a Source together with its file.
type opened struct {
	Source
	file *os.File
}

func (o *opened) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		defer o.Close()
		o.Source.Events()(yield)
	}
}

// Close closes the file. Closing again does nothing.
func (o *opened) Close() error {
	if err := o.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// NewSource reads a history in any of the three formats, told apart by what it begins
// with.
func NewSource(r io.Reader) (Source, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(4096)
	if len(head) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("history: %w", err)
		}
		return nil, errors.New("history: it is empty: nothing was ever recorded; hint: give the file of a run")
	}
	if head[0] == magic[0] {
		return ReadNative(in)
	}
	switch text := skipBlank(head); {
	case bytes.HasPrefix(text, []byte("{")) && bytes.HasPrefix(skipBlank(text[1:]), []byte(`"`)):
		return ReadJSONL(in)
	case len(text) > 0 && bytes.IndexByte([]byte("{[(#;"), text[0]) >= 0:
		return ReadEDN(in)
	}
	return nil, fmt.Errorf("history: it is no history: it begins with %q; hint: native, JSON Lines and Jepsen's EDN are read", head[:min(len(head), 16)])
}

func skipBlank(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n,") }
