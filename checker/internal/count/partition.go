package count

// Partitions is the number of partitions of the keys of a history.
const Partitions = 16

// PartitionOf returns the partition of the key with this name.
func PartitionOf(name string) int { return int(Hash(name) >> 60) }

// Hash returns a hash of name. It mixes the last eight bytes only, in which the names of keys
// differ, and leaves the best bits high.
func Hash(name string) uint64 {
	n := len(name)
	mixed := uint64(n)
	switch {
	case n >= 8:
		mixed ^= uint64(fourBytes(name, n-8))<<32 | uint64(fourBytes(name, n-4))
	case n >= 4: // the two loads overlap if n < 8
		mixed = mixed<<(8*n) ^ (uint64(fourBytes(name, 0))<<(8*(n-4)) | uint64(fourBytes(name, n-4)))
	default:
		for _, b := range []byte(name) {
			mixed = mixed<<8 ^ uint64(b)
		}
	}
	return mixed * 0x9e3779b97f4a7c15
}

// fourBytes returns the four bytes of s from i on, in one load.
func fourBytes(s string, i int) uint32 {
	b := s[i : i+4]
	return uint32(b[3]) | uint32(b[2])<<8 | uint32(b[1])<<16 | uint32(b[0])<<24
}

// A Ring bounds how many items the keys of one partition, of type K, remember: over all partitions
// together 8192. Each item has a place, with its key.
type Ring[K any] struct {
	all  []*K // by place; nil if the key has forgotten its item
	next int
}

// Push notes that key remembers one more item, and returns the place of it. If there are too many,
// the oldest item has to go: full is the key that must forget it, else nil.
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

// Forget notes that the item at place is forgotten.
func (r *Ring[K]) Forget(place int) { r.all[place] = nil }

// Empty returns an empty ring that uses the memory of r.
func (r *Ring[K]) Empty() Ring[K] { return Ring[K]{all: r.all[:0]} }
