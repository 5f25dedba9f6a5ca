package pending

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// maxWrites is how many completed writes of a key are remembered. A lost update
// shows against the newest ones: either both writes were made on the same
// version, or the newer write fell between the older one's read and write.
const maxWrites = 16

// A Record is the record that the lock of one key guards: which client read which version of it,
// and which writes came between a writer's read and its write. It finds updates that may be lost;
// whether their writers held the key is for the checker to say. A hold of a writer is an H.
type Record[H comparable] struct {
	begun int64 // writes called so far
	open  []*Write[H]
	done  []*Write[H]
}

// A Write is one write of the record.
type Write[H comparable] struct {
	Op    *history.Op
	Hold  H
	Valid bool // it returned within its writer's validity, and so did the read before it
	use   *Use
	index int64 // in order of calls
	// overwritten is a write made between this writer's read and this write.
	overwritten *Write[H]
}

// A Use is what the owner of a hold did to the record under it.
type Use struct {
	LastRead *history.Op
	seen     int64 // writes of the record begun when the owner last read
}

// Read applies the return of a read.
func (r *Record[H]) Read(op *history.Op, u *Use) { u.LastRead, u.seen = op, r.begun }

// Called applies the call of write op under a hold and its use; nil where none is known.
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
	if op.Return != history.Never { // else nothing will come of it
		r.open = append(r.open, w)
	}
}

// Returned applies the return of write op, and returns it where it was made under a known
// hold; else nil.
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

// Victim is a write whose update w destroyed, or that destroyed w's ground, nil when there is
// none; and last the newest write that was done before, nil when there is none.
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

// Done adds w, which was returned, to those that later ones are compared with.
func (r *Record[H]) Done(w *Write[H]) {
	w.overwritten = nil // or each write would keep all before it
	if len(r.done) == maxWrites {
		r.done = append(r.done[:0], r.done[1:]...)
	}
	r.done = append(r.done, w)
}

// Empty is a record that nobody has used, in the memory of r.
func (r *Record[H]) Empty() Record[H] { return Record[H]{open: r.open[:0], done: r.done[:0]} }
