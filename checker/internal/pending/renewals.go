package pending

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// maxRenewals bounds how many renewals wait for the return of their acquire.
const maxRenewals = 64

// Renewals are the renewals of one key that were called before their acquire returned. The zero
// Renewals has none.
type Renewals []*history.Op

// Called adds op, under a hold that is not known yet, if it is a renewal.
func (r *Renewals) Called(op *history.Op) {
	if op.Kind != history.Renew || op.Hold == 0 {
		return
	}
	if len(*r) == maxRenewals { // the oldest is probably of a forgotten hold
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, op)
}

// Take removes the renewals of a hold, and calls to with each, in the order of their calls.
func (r *Renewals) Take(hold int64, to func(*history.Op)) {
	*r = slices.DeleteFunc(*r, func(op *history.Op) bool {
		if op.Hold == hold {
			to(op)
		}
		return op.Hold == hold
	})
}
