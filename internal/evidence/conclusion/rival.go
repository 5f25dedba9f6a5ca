package conclusion

import (
	"cmp"
	"slices"
)

// A Rival is one of several locks to choose from.
type Rival struct {
	*Conclusion
	// Tried reports whether everything that counts was tried on enough occasions.
	Tried bool
	// Breaks is the number of sets of conditions under which it breaks, over the usual conditions at
	// least.
	Breaks int
	// Rate is its speed, in grants per second.
	Rate float64
}

// AsFast is the least ratio of speeds: a lock with at least this share of another lock's speed
// counts as fast as the other. Between two runs of one lock in the released matrix speeds differ by
// a factor of up to 2.5, so one run of each tells no smaller difference.
const AsFast = 0.4

// SortRivals sorts locks, the best first. It compares locks in this order: a safer lock comes
// first, then a lock that was tried enough, then fewer sets of conditions that break it, then a
// lock about as fast (see [AsFast]) as the fastest of the locks that are still equal. Locks that
// are equal in everything keep their order.
func SortRivals[T any](all []T, rival func(*T) Rival) {
	safer := func(a, b T) int {
		x, y := rival(&a), rival(&b)
		return cmp.Or(
			y.Rank()-x.Rank(), first(x.Tried, y.Tried), cmp.Compare(x.Breaks, y.Breaks))
	}
	slices.SortStableFunc(all, safer)
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(other T) bool { return safer(all[0], other) != 0 })
		if n < 0 {
			n = len(all)
		}
		fastest := 0.
		for i := range all[:n] {
			fastest = max(fastest, rival(&all[i]).Rate)
		}
		fast := func(a T) bool { return rival(&a).Rate >= AsFast*fastest }
		slices.SortStableFunc(all[:n], func(a, b T) int { return first(fast(a), fast(b)) })
		all = all[n:]
	}
}

// first compares two booleans: true comes before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
