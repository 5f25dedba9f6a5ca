package count

// Partitions is the number of parts.
const Partitions = 16

// PartitionOf returns the number of the part that a key belongs to.
func PartitionOf(name string) int { return int(Hash(name) >> 60) }

// Hash returns a number whose high bits differ from key to key. It looks at the end of the
// name, where names differ.
func Hash(name string) uint64 {
	n := len(name)
	mixed := uint64(n)
	switch {
	case n >= 8:
		mixed ^= uint64(fourBytes(name, n-8))<<32 | uint64(fourBytes(name, n-4))
	case n >= 4: // the two overlap where they are equal
		mixed = mixed<<(8*n) ^ (uint64(fourBytes(name, 0))<<(8*(n-4)) | uint64(fourBytes(name, n-4)))
	default:
		for _, b := range []byte(name) {
			mixed = mixed<<8 ^ uint64(b)
		}
	}
	return mixed * 0x9e3779b97f4a7c15
}

// fourBytes are the four bytes of s from i on, in one load.
func fourBytes(s string, i int) uint32 {
	b := s[i : i+4]
	return uint32(b[3]) | uint32(b[2])<<8 | uint32(b[1])<<16 | uint32(b[0])<<24
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
	const most = 1 << 13 / Partitions
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
