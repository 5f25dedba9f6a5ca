package checker

import "math/bits"

// rooms is how many parts the keys of a history fall into. What bounds the memory of
// all keys together is counted by room, so that who judges some rooms only remembers
// just what one who judges all of them does.
const rooms = 16

// A room is what the keys of one part share.
type room struct {
	gone ring
	// few is how many keys still keep their operations for the cross-check.
	few int
}

// roomOf is the number of the room that a key belongs to.
func roomOf(name string) int { return int(mixed(name) >> 60) }

// mixed is a number whose high bits differ from key to key. It looks at the end of the
// name, where names differ.
func mixed(name string) uint64 {
	n := uint64(len(name))
	for _, b := range []byte(name[max(0, len(name)-8):]) {
		n = bits.RotateLeft64(n, 8) ^ uint64(b)
	}
	return n * 0x9e3779b97f4a7c15
}

// roomFor returns the room of a key, made when first needed.
func (c *Checker) roomFor(name string) *room {
	n := roomOf(name)
	if c.rooms[n] == nil {
		c.rooms[n] = &room{}
	}
	return c.rooms[n]
}
