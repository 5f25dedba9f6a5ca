package history

import "encoding/binary"

// A batch has the packed operations of one block, without their strings. The writer of the file
// inserts these as numbers, which count strings through the whole file.
type batch struct {
	packed []byte
	texts  []blockString
	// strings is the length of all of them, count the number of operations.
	strings, count int // total length of the strings, in bytes
}

// A blockString is a string to be inserted before the byte at index at of the packed operations.
type blockString struct {
	string string
	at     int
}

// leaveOut notes that s is to be inserted before the byte at index at.
func (b *batch) leaveOut(s string, at int) {
	b.texts = append(b.texts, blockString{s, at})
	b.strings += len(s)
}

// full reports whether the block is large enough to be written.
func (b *batch) full() bool {
	return b.count >= blockOps || len(b.packed)+b.strings >= blockBytes
}

// reset empties the batch and keeps its memory.
func (b *batch) reset() {
	clear(b.texts) // lets go of the strings
	*b = batch{packed: b.packed[:0], texts: b.texts[:0]}
}

// A stringTable numbers the strings of one file in the order of their first use, up to maxStrings.
// The zero value is empty.
type stringTable struct {
	numbers map[string]uint64
}

// maxStrings bounds how many strings of a file are numbered. Later ones are written out each time.
const maxStrings = 1 << 17

// appendPayload appends the payload of a block: the batch with its strings inserted.
func (v *stringTable) appendPayload(payload []byte, b *batch) []byte {
	from := 0
	for _, t := range b.texts {
		payload = append(payload, b.packed[from:t.at]...)
		payload = v.append(payload, t.string)
		from = t.at
	}
	return append(payload, b.packed[from:]...)
}

func (v *stringTable) append(payload []byte, s string) []byte {
	if n, ok := v.numbers[s]; ok {
		return binary.AppendUvarint(payload, n)
	}
	if v.numbers == nil {
		v.numbers = map[string]uint64{}
	}
	if len(v.numbers) < maxStrings { // the first ones have the lowest numbers, whatever comes later
		v.numbers[s] = uint64(len(v.numbers) + 1)
	}
	payload = append(payload, 0)
	payload = binary.AppendUvarint(payload, uint64(len(s)))
	return append(payload, s...)
}
