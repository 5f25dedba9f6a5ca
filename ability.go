package lockbench

// Ability returns lease as an A (one of the ability interfaces, such as
// [Extender]) and whether it has that ability.
//
// A decorator of leases implements every ability and an Unwrap method that
// returns the lease within; it then has just the abilities that every layer
// below it has too.
func Ability[A any](lease Lease) (A, bool) {
	outer, ok := lease.(A)
	for inner := lease; ok; {
		w, wraps := inner.(interface{ Unwrap() Lease })
		if !wraps {
			return outer, true
		}
		inner = w.Unwrap()
		_, ok = inner.(A)
	}
	var none A
	return none, false
}
