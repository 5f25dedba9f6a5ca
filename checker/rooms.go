package checker

import "encoding/binary"

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

// roomOf is the number of the room that a key belongs to. It looks at the end of the
// name, where names differ.
func roomOf(name string) int {
	var last [8]byte
	copy(last[:], name[max(0, len(name)-len(last)):])
	mixed := (binary.LittleEndian.Uint64(last[:]) + uint64(len(name))) * 0x9e3779b97f4a7c15
	return int(mixed >> 60)
}

// roomFor returns the room of a key, made when first needed.
func (c *Checker) roomFor(name string) *room {
	n := roomOf(name)
	if c.rooms[n] == nil {
		c.rooms[n] = &room{}
	}
	return c.rooms[n]
}
