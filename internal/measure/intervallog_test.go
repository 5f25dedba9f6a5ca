package measure

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockbench/lockbench/history"
)

// logHeader is the header of a run with a warm-up.
func logHeader() history.Header {
	return history.Header{Schema: history.Schema, Design: "lua-token/token", Started: "2026-11-02T10:00:00Z", WarmupNS: 100 * int64(time.Millisecond)}
}

// fullDisk takes nothing.
type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }

// logged is the interval log of runs of a design with so many grants, 1 ms apart.
func logged(t *testing.T, prefix string, runs ...int64) []byte {
	t.Helper()
	var buf bytes.Buffer
	log := NewIntervalLog(&buf)
	for _, n := range runs {
		in := log.Run(logHeader(), prefix)
		for i := range n {
			op := history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: i + 1, Call: i * int64(time.Millisecond), Return: i*int64(time.Millisecond) + 1000}
			in.Add(history.Event{Phase: history.Call, Op: &op})
			in.Add(history.Event{Phase: history.Return, Op: &op})
		}
		in.Finish(history.End{Trailer: history.Trailer{EndNS: n * int64(time.Millisecond)}})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestIntervalLogIsRead reads a log by the reader of the format.
func TestIntervalLogIsRead(t *testing.T) {
	text := logged(t, "", 2500)
	if !strings.HasPrefix(string(text), "#[Logged by lockbench") || !strings.Contains(string(text), "\n#[Histogram log format version 1.3]\n#[StartTime: 1793613600 ") {
		t.Errorf("the head is\n%.300s", text)
	}
	r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(text))
	var counts []int64
	for {
		h, err := r.NextIntervalHistogram()
		if err != nil || h == nil {
			break
		}
		if h.Tag() != "acquire" || h.Max() < 1000 || h.Max() > 1001 {
			t.Errorf("got tag %q and at most %d ns, want acquire and 1000", h.Tag(), h.Max())
		}
		counts = append(counts, h.TotalCount())
	}
	if len(counts) != 3 || counts[0] != 1000 || counts[1] != 1000 || counts[2] != 500 {
		t.Errorf("grants per interval: got %v, want 1000, 1000 and 500", counts)
	}
}

func TestIntervalLogTellsRunsApart(t *testing.T) {
	text := string(logged(t, "lua-token/token", 10, 10))
	if n := strings.Count(text, "\nTag=lua-token/token.acquire,"); n != 2 {
		t.Errorf("got %d intervals, want 2:\n%s", n, text)
	}
	if n := strings.Count(text, "StartTime:"); n != 1 {
		t.Errorf("got %d heads, want 1", n)
	}
}

func TestIntervalLogTellsErrors(t *testing.T) {
	broken := errors.New("disk full")
	log := NewIntervalLog(fullDisk{broken})
	log.Run(logHeader(), "").Finish(history.End{})
	if err := log.Close(); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
