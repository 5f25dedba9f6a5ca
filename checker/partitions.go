package checker

import "math/bits"

// partitions is how many parts the keys of a history fall into. What bounds the memory of
// all keys together is counted by partition, so that who judges some partitions only remembers
// just what one who judges all of them does.
const partitions = 16

// A partition is what the keys of one part share.
type partition struct {
	gone ring
	// few is how many keys still keep their operations for the cross-check.
	small int
}

// partitionOf is the number of the partition that a key belongs to.
func partitionOf(name string) int { return int(mixed(name) >> 60) }

// mixed is a number whose high bits differ from key to key. It looks at the end of the
// name, where names differ.
func mixed(name string) uint64 {
	n := uint64(len(name))
	for _, b := range []byte(name[max(0, len(name)-8):]) {
		n = bits.RotateLeft64(n, 8) ^ uint64(b)
	}
	return n * 0x9e3779b97f4a7c15
}

// partitionFor returns the partition of a key, made when first needed.
func (c *Checker) partitionFor(name string) *partition {
	n := partitionOf(name)
	if c.partitions[n] == nil {
		c.partitions[n] = &partition{}
	}
	return c.partitions[n]
}
