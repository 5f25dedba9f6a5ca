package history

import (
	"bytes"
	"testing"
	"time"
)

// TestRecorderForgetsTheDead: a run that for days replaces dying clients must not keep
// their data.
func TestRecorderForgetsTheDead(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	rec, err := newRecorder(&file, Header{}, pace{sweep: time.Millisecond, backlog: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const clients = 300
	alive := rec.Client(clients, 0)
	for id := range int32(clients) {
		c := rec.Client(id, id)
		c.Renewing("k")(time.Second, nil)
		c.Renewing("k") // never returns
		c.Die("crash")
	}
	alive.Event(Pause, "", "")
	for kept := clients; kept > 1; { // the test's deadline ends it otherwise
		time.Sleep(time.Millisecond)
		rec.mu.Lock()
		kept = len(rec.streams)
		rec.mu.Unlock()
	}
	alive.Event(Resume, "", "")
	if err := rec.Close(Trailer{}); err != nil {
		t.Fatal(err)
	}
	src, err := NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := shownEvents(src)
	if err != nil || len(shown) != 4*clients+2 || src.End().Partial {
		t.Errorf("%d events, error %v, end %+v; want %d: none may be lost with its client", len(shown), err, src.End(), 4*clients+2)
	}
}
