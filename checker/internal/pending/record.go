package pending

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// maxWrites is how many completed writes of a key are remembered. A lost update shows by the newest
// writes: both were based on the same version, or one came between the read and the write of the
// other.
const maxWrites = 16

// A Record is the guarded state of one key: which client read which version, and which writes came
// between a client's read and its write. It finds updates that may be lost; the checker decides
// whether their writers held the key. H is the type of a hold.
type Record[H comparable] struct {
	begun int64 // number of writes called so far
	open  []*Write[H]
	done  []*Write[H]
}

// A Write is one write of the guarded state.
type Write[H comparable] struct {
	Op    *history.Op
	Hold  H
	Valid bool // set by the caller: the read and the write were within validity
	use   *Use
	index int64 // in the order of calls
	// overwritten is a write between this writer's read and this write, nil if there is none.
	overwritten *Write[H]
}

// A Use is the use of the guarded state under one hold.
type Use struct {
	LastRead *history.Op
	seen     int64 // number of writes called when the owner last read
}

// Read applies the return of a read.
func (r *Record[H]) Read(op *history.Op, u *Use) { u.LastRead, u.seen = op, r.begun }

// Called applies the call of write op under hold, with its use; use is nil if the hold is unknown.
func (r *Record[H]) Called(op *history.Op, hold H, u *Use) {
	r.begun++
	w := &Write[H]{Op: op, Hold: hold, use: u, index: r.begun}
	if u != nil && u.LastRead != nil {
		for _, other := range r.done {
			if other.use != u && other.index > u.seen {
				w.overwritten = other
			}
		}
	}
	if op.Return != history.Never { // otherwise it never counts
		r.open = append(r.open, w)
	}
}

// Returned applies the return of write op. It returns the write if it succeeded under a known hold,
// else nil.
func (r *Record[H]) Returned(op *history.Op) *Write[H] {
	i := slices.IndexFunc(r.open, func(w *Write[H]) bool { return w.Op == op })
	if i < 0 {
		return nil
	}
	w := r.open[i]
	r.open = slices.Delete(r.open, i, i+1)
	if op.Outcome != history.OK || w.use == nil {
		return nil
	}
	return w
}

// Victim returns a write that w overwrote although the client of w had not read it, or a write
// based on the same version as w; nil if there is none. last is the newest write that was completed
// before, nil if there is none.
func (r *Record[H]) Victim(w *Write[H]) (victim, last *Write[H]) {
	victim = w.overwritten
	for _, other := range r.done {
		both := other.use != w.use && other.use.LastRead != nil && w.use.LastRead != nil
		if victim == nil && both && other.Op.Base == w.Op.Base {
			victim = other
		}
		last = other
	}
	return victim, last
}

// Done adds w to the completed writes.
func (r *Record[H]) Done(w *Write[H]) {
	w.overwritten = nil // or each write would keep all earlier ones
	if len(r.done) == maxWrites {
		r.done = append(r.done[:0], r.done[1:]...)
	}
	r.done = append(r.done, w)
}

// Empty returns an unused record that uses the memory of r.
func (r *Record[H]) Empty() Record[H] { return Record[H]{open: r.open[:0], done: r.done[:0]} }
