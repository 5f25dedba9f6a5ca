package history

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// What other programs' histories leave out, and what is taken for it.

// assumed is the header for what a history does not say: it claims what a lease
// lock on one server can keep, and was made to put exclusion to the test.
func assumed() Header {
	return Header{
		Claims:    lockbench.LeaseClaims(lockbench.ReleaseDelay, lockbench.Fencing),
		Exercises: []lockbench.Cell{lockbench.Exclusion.At(0)},
	}
}

// assumedTrailer is the end of a complete history that does not tell of it.
func assumedTrailer(ops []*Op) Trailer {
	t := Trailer{Ops: int64(len(ops)), Ended: "end of file"}
	for _, op := range ops {
		t.EndNS = max(t.EndNS, op.lastStamp())
	}
	return t
}

// lastStamp is the latest stamp that op has.
func (op *Op) lastStamp() int64 {
	if op.Return == Never {
		return op.Call
	}
	return op.Return
}

// lastStamps are where each client was last seen.
func lastStamps(ops []*Op) func(client int32) int64 {
	last := map[int32]int64{}
	for _, op := range ops {
		last[op.Client] = max(last[op.Client], op.lastStamp())
	}
	return func(client int32) int64 { return last[client] }
}

// nameHolds joins operations to the grants they belong to, by client and key, as
// the recorder does. See holds.
func nameHolds(ops []*Op, reacquire string) {
	own := slices.Clone(ops)
	slices.SortStableFunc(own, func(a, b *Op) int {
		return cmp.Or(
			cmp.Compare(a.Client, b.Client),
			cmp.Compare(a.Call, b.Call),
			cmp.Compare(a.CallSeq, b.CallSeq),
			cmp.Compare(a.Return, b.Return),
		)
	})
	var h *holds
	for _, op := range own {
		if h == nil || h.client != op.Client {
			h = &holds{client: op.Client, reacquire: reacquire, guessed: true}
		}
		base := op.Base
		h.begin(op)
		if base != 0 {
			op.Base = base
		}
		h.end(op)
	}
}
