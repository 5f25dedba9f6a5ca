package history

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/lib/spool"
)

// TestFollowingAHistory: a reader that follows a recorder yields the same as one that
// comes later.
func TestFollowingAHistory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "h.lbh")
	file, err := spool.New(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	type read struct {
		events []string
		end    End
		err    error
	}
	followed := make(chan read)
	go func() {
		var r read
		src, err := NewSource(file.Reader())
		if err == nil {
			r.events, err = shownEvents(src)
			r.end = src.End()
		}
		r.err = err
		followed <- r
	}()
	rec, err := newRecorder(file, Header{Design: "d"}, pace{sweep: time.Millisecond, backlog: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	one, two := rec.Client(1, 1), rec.Client(2, 1)
	for range 2000 {
		for _, c := range []*Client{one, two} {
			done := c.Renewing("k")
			done(time.Second, nil)
		}
	}
	if err := errors.Join(rec.Close(Trailer{Ended: "test"}), file.Close()); err != nil {
		t.Fatal(err)
	}
	got := <-followed
	src, err := Open(path)
	if err != nil || got.err != nil {
		t.Fatal(err, got.err)
	}
	want, err := shownEvents(src)
	if err != nil || len(want) != 8000 || !slices.Equal(got.events, want) {
		t.Errorf("%d events followed, %d read later, error %v; want the same 8000", len(got.events), len(want), err)
	}
	if got.end.Trailer.Ended != "test" || got.end.Partial {
		t.Errorf("followed to the end %+v, want the recorder's", got.end)
	}
}

func shownEvents(src Source) (shown []string, err error) {
	for ev, err := range src.Events() {
		if err != nil {
			return shown, err
		}
		shown = append(shown, string(rune('0'+ev.Phase))+" "+ev.Op.Kind.String()+" "+time.Duration(ev.Op.Call).String()+" "+time.Duration(ev.Op.Return).String())
	}
	return shown, nil
}
