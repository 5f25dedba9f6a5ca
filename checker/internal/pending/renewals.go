package pending

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// maxRenewals bounds how many renewals wait for their acquire's return.
const maxRenewals = 64

// Renewals are those of one key. The zero Renewals is none.
type Renewals []*history.Op

// Called applies the call of op, under a hold that is not known, if it is a renewal.
func (r *Renewals) Called(op *history.Op) {
	if op.Kind != history.Renew || op.Hold == 0 {
		return
	}
	if len(*r) == maxRenewals { // of holds that are gone, most likely
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, op)
}

// Take passes on those of a hold, in the order of their calls, and forgets them.
func (r *Renewals) Take(hold int64, to func(*history.Op)) {
	*r = slices.DeleteFunc(*r, func(op *history.Op) bool {
		if op.Hold == hold {
			to(op)
		}
		return op.Hold == hold
	})
}
