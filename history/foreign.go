package history

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// Defaults for fields that histories of other programs leave out.

// assumed returns a header with the defaults: the claims of a lease lock on one server, and a
// workload that exercises exclusion.
func assumed() Header {
	return Header{
		Claims:        lockbench.LeaseClaims(lockbench.ReleaseDelay, lockbench.Fencing),
		AssumedClaims: true,
		Exercises:     []lockbench.Cell{lockbench.Exclusion.At(0)},
	}
}

// assumedTrailer returns the trailer of a complete history without one.
func assumedTrailer(ops []*Op) Trailer {
	t := Trailer{Ops: int64(len(ops)), Ended: "end of file"}
	for _, op := range ops {
		t.EndNS = max(t.EndNS, op.lastStamp())
	}
	return t
}

// lastStamp returns the latest stamp of op.
func (op *Op) lastStamp() int64 {
	if op.Return == Never {
		return op.Call
	}
	return op.Return
}

// lastStamps returns the last stamp of each client.
func lastStamps(ops []*Op) func(client int32) int64 {
	last := map[int32]int64{}
	for _, op := range ops {
		last[op.Client] = max(last[op.Client], op.lastStamp())
	}
	return func(client int32) int64 { return last[client] }
}

// nameHolds sets the hold of each operation, by client and key, as the recorder does. See holds.
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
			h = &holds{client: op.Client, reacquire: reacquire, assumed: true}
		}
		base := op.Base
		h.begin(op)
		if base != 0 {
			op.Base = base
		}
		h.end(op)
	}
}
