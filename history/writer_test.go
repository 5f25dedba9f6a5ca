package history

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// full is a file system with no space left.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestEventsHaveNoAttempt writes an event with a zero Attempt, as in the zero Op, and reads it.
func TestEventsHaveNoAttempt(t *testing.T) {
	src := through(t, complete([]*Op{{Kind: Death}}), toJSONL)
	events, err := gather(src)
	if err != nil || len(events) != 1 || events[0].Op.Attempt != NoStamp {
		t.Errorf("got %v, error %v, want a death without an attempt", texts(events), err)
	}
}

// TestWriterSaysWhatIsWrong writes invalid operations, and goes on.
func TestWriterSaysWhatIsWrong(t *testing.T) {
	good := Op{Kind: Acquire, Call: 1, Return: 2, Attempt: NoStamp, Key: "k"}
	for _, c := range []struct {
		name  string
		to    io.Writer
		op    Op
		want  string
		space bool // the hint asks for space
	}{
		{"an operation that ends before it begins", io.Discard, Op{Kind: Acquire, Call: 2, Return: 1, Attempt: NoStamp}, "before its call", false},
		{"a stream that is none", io.Discard, Op{Kind: Acquire, Call: 1, Return: 2, Attempt: NoStamp, Stream: -1}, "-1 is no stream", false},
		{"no space", full{}, good, "no space left on device", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := NewWriter(c.to, Header{})
			if err != nil {
				t.Fatal(err)
			}
			first := w.Write(&c.op)
			err = w.Close(End{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "is there space") != c.space {
				t.Errorf("got %v, want %q and a hint at space: %v", err, c.want, c.space)
			}
			if again := w.Write(&good); again != err || first != nil && first != err {
				t.Errorf("got %v, then %v, then %v; want the first to stay", first, err, again)
			}
		})
	}
}
