package lockbench

// Ability returns lease as an A (one of the ability interfaces, such as
// [Extender]) and whether it has that ability.
//
// A lease with methods of abilities that it may lack is a [Limited] one.
//
// A decorator of leases implements every ability, and an Unwrap method that
// returns the inner lease. It has an ability if every layer below it has that
// ability.
func Ability[A any](lease Lease) (A, bool) {
	outer, ok := lease.(A)
	for inner := lease; ok; {
		w, wraps := inner.(interface{ Unwrap() Lease })
		if !wraps {
			limited, is := inner.(Limited)
			if is && !limited.Has((*A)(nil)) {
				break
			}
			return outer, true
		}
		inner = w.Unwrap()
		_, ok = inner.(A)
	}
	var none A
	return none, false
}

// A Limited is a lease that has methods of abilities which it may lack, because only its service knows
// them.
type Limited interface {
	Lease
	// Has reports whether the lease has an ability: a nil pointer to one of the ability interfaces,
	// such as (*Extender)(nil).
	Has(ability any) bool
}
