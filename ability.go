package lockbench

// Ability returns lease as an A (one of the ability interfaces, such as
// [Extender]) and whether it has that ability.
//
// A decorator of leases implements every ability, and an Unwrap method that
// returns the inner lease. It has an ability if every layer below it has that
// ability.
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
