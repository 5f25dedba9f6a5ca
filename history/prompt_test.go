package history

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// counted counts the bytes that were taken from it.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// TestEventsComeAsSoonAsTheyAreWritten: a reader that gets a file byte by byte delivers
// each event when the epoch's block that covers it is there, and asks for no byte beyond.
func TestEventsComeAsSoonAsTheyAreWritten(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{Design: "d"})
	if err != nil {
		t.Fatal(err)
	}
	for at := range int64(20) {
		if err := w.Write(&Op{Kind: Acquire, Key: "k", Call: 10 * at, Return: 10*at + 1, Outcome: OK}); err != nil {
			t.Fatal(err)
		}
		if err := w.Epoch(10*at + 5); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(End{}); err != nil {
		t.Fatal(err)
	}
	in := &counted{Reader: iotest.OneByteReader(&file)}
	src, err := NewSource(in)
	if err != nil {
		t.Fatal(err)
	}
	n, events := src.(*nativeReader), 0
	if in.n != n.offset {
		t.Errorf("%d bytes were read for the header, want %d", in.n, n.offset)
	}
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if events++; in.n != n.offset {
			t.Fatalf("event %d, at %d ns: %d bytes were read, want those up to its epoch, %d", events, ev.Op.Call, in.n, n.offset)
		}
	}
	if events != 40 {
		t.Errorf("got %d events, want 40", events)
	}
}

// TestFormatsAreToldByTheirFirstBytes: no reader waits for more than tells them apart.
func TestFormatsAreToldByTheirFirstBytes(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64 // bytes read until it is known
	}{
		{"LOCKBENCH", 1}, {`{"schema": "x"}`, 2}, {" \n{ :index 0}", 5}, {"[{:index 0}]", 1}, {"; comment", 1}, {"what", 1},
	} {
		t.Run(c.text, func(t *testing.T) {
			text := c.text
			if text == "LOCKBENCH" {
				text = magic
			}
			in := &counted{Reader: iotest.OneByteReader(bytes.NewReader([]byte(text)))}
			var known bool
			for head := []byte{}; !known; _, known = readerOf(head) {
				b := make([]byte, 1)
				if _, err := in.Read(b); err != nil {
					t.Fatal(err)
				}
				head = append(head, b...)
			}
			if diff := cmp.Diff(in.n, c.want); diff != "" {
				t.Errorf("bytes (-got +want):\n%s", diff)
			}
		})
	}
}
