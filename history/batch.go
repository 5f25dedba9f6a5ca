package history

import "encoding/binary"

// A batch is the operations of one block, packed but for their strings: those are
// numbered through the whole file, and so by what writes it.
type batch struct {
	packed []byte
	texts  []blockString
	// strings is the length of all of them, count the number of operations.
	strings, count int
}

// A blockString is a string that belongs in front of the packed byte with number at.
type blockString struct {
	string string
	at     int
}

// leaveOut notes that s belongs in front of the byte with number at.
func (b *batch) leaveOut(s string, at int) {
	b.texts = append(b.texts, blockString{s, at})
	b.strings += len(s)
}

// full reports whether a block can take no more.
func (b *batch) full() bool {
	return b.count >= blockOps || len(b.packed)+b.strings >= blockBytes
}

// reset empties the batch and keeps its memory.
func (b *batch) reset() {
	clear(b.texts) // lets go of the strings
	*b = batch{packed: b.packed[:0], texts: b.texts[:0]}
}

// A stringTable numbers the strings of one file: the first ones, so that its memory has a bound. The
// zero value is empty.
type stringTable struct {
	numbers map[string]uint64
}

// maxStrings is how many strings a vocabulary numbers. Others are written out each time.
const maxStrings = 1 << 17

// appendPayload appends a block's payload: a batch with its strings put in.
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
