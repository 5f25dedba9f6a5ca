// Package partition divides the keys of a history into parts. What bounds the memory of all
// keys together is counted by part, so that who judges some parts only remembers just what
// one who judges all of them does.
package partition

import "math/bits"

// Count is how many parts there are.
const Count = 16

// Of is the number of the part that a key belongs to.
func Of(name string) int { return int(Mixed(name) >> 60) }

// Mixed is a number whose high bits differ from key to key. It looks at the end of the
// name, where names differ.
func Mixed(name string) uint64 {
	n := uint64(len(name))
	for _, b := range []byte(name[max(0, len(name)-8):]) {
		n = bits.RotateLeft64(n, 8) ^ uint64(b)
	}
	return n * 0x9e3779b97f4a7c15
}

// A Ring remembers the newest of what the keys of one part, of type K, have; of all parts
// together 8192.
type Ring[K any] struct {
	all  []*K // nil for what its key has forgotten
	next int
}

// Push notes that key remembers one more, and says at which place. Where there are too many
// the oldest of all has to go, and it returns whose that is.
func (r *Ring[K]) Push(key *K) (place int, full *K) {
	const most = 1 << 13 / Count
	place = r.next
	r.next = (r.next + 1) % most
	if len(r.all) < most {
		r.all = append(r.all, key)
		return place, nil
	}
	full, r.all[place] = r.all[place], key
	return place, full
}

// Forget notes that what is at a place is forgotten.
func (r *Ring[K]) Forget(place int) { r.all[place] = nil }

// Empty is a ring that remembers nothing, in the memory of r.
func (r *Ring[K]) Empty() Ring[K] { return Ring[K]{all: r.all[:0]} }
