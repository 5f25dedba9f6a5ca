package pending

import (
	"testing"

	"github.com/lockbench/lockbench/history"
)

// TestVictim: two clients read the same version, and the second to write destroys the
// first one's write; a client that read since destroys nothing.
func TestVictim(t *testing.T) {
	var (
		r             Record[string]
		first, second Use
	)
	read := &history.Op{Kind: history.Read}
	write := func(hold string, u *Use, base uint64) (victim, last string) {
		op := &history.Op{Kind: history.Write, Outcome: history.OK, Base: base}
		r.Called(op, hold, u)
		w := r.Returned(op)
		v, l := r.Victim(w)
		r.Done(w)
		if v != nil {
			victim = v.Hold
		}
		if l != nil {
			last = l.Hold
		}
		return victim, last
	}
	r.Read(read, &first)
	r.Read(read, &second)
	if victim, last := write("first", &first, 7); victim != "" || last != "" {
		t.Errorf("the first write: victim %q, last %q", victim, last)
	}
	if victim, last := write("second", &second, 7); victim != "first" || last != "first" {
		t.Errorf("the second write: victim %q, last %q, want first", victim, last)
	}
	r.Read(read, &first)
	if victim, last := write("first", &first, 9); victim != "" || last != "second" {
		t.Errorf("a write on the newest version: victim %q, last %q", victim, last)
	}
	failed := &history.Op{Kind: history.Write, Outcome: history.Failed}
	r.Called(failed, "first", &first)
	if r.Returned(failed) != nil {
		t.Error("a write that failed counts")
	}
}
