package history

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// The native file
//
//	file   = magic version block*
//	magic  = 89 'l' 'b' 'h' 0d 0a 1a      (7 bytes; a transfer as text breaks it)
//	version = 01                          (1 byte)
//	block  = type stream count length watermark payload checksum
//
//	type      1 byte, see below
//	stream    uvarint, the recorder's stream (one client's operations)
//	count     uvarint, operations in the block
//	length    uvarint, bytes of payload, at most 16 MiB
//	watermark varint, ns since the start of the run
//	checksum  4 bytes little endian, CRC-32C of everything from type to payload
//
// uvarint and varint are as in encoding/binary (varint is zigzag). Numbers below are varint unless
// they say uvarint.
//
//	1 header  payload: a Header as JSON. Always the first block.
//	2 stream  payload: client, process. Opens a stream, before any operation
//	          that could have met its client; watermark: when it was opened.
//	3 ops     payload: count operations of one stream. Watermark: every operation
//	          of the stream that was called before it is in, here or earlier.
//	4 epoch   Watermark: no stamp below it comes later in the file, of any stream.
//	          Everything below it may be sorted and passed on.
//	5 cut     payload: client. The client's record stops at the watermark.
//	6 end     payload: how the history ended, as JSON: {"trailer":{...}}, or
//	          {"partial":true,"why":"..."} in a copy of one cut short. The last block.
//
// A file without an end block is partial: each client's record stops at the
// largest watermark that covers it, of its streams' or of the last epoch.
//
// An operation is
//
//	flags uvarint, what = kind<<4 | outcome<<1 | late (1 byte), call, then what
//	its flags announce, in the order of their bits.
//
// call is relative to the call of the operation before it in the block (the first
// to 0), and so is everything that "as before" speaks of; at the start of a block
// the client and process are the stream's, and all else is zero or empty.
//
//	bit 0  returned: uvarint return - call. Without: it never did.
//	bit 1  another key than before: a string
//	bit 2  a hold: relative to the last hold in the block
//	bit 3  an attempt: relative to call. Without: NoStamp.
//	bit 4  a lease asked for; with bit 5 clear: its ns
//	bit 5  ... it is as before
//	bit 6  the lease granted is the one asked for
//	bit 7  attempts is not 1 (acquire) or 0 (others): the number
//	bit 8  a wait; with bit 9 clear: its ns
//	bit 9  ... it is as before
//	bit 10 a lease granted that is not the one asked for: its ns
//	bit 11 a fence: uvarint
//	bit 12 a value
//	bit 13 a version: uvarint
//	bit 14 a base: uvarint
//	bit 15 a note: a string
//	bit 16 a delay: ns
//	bit 17 sequence numbers: uvarint call, uvarint return
//	bit 18 another owner than before: client, process, stream
//	bit 19 an intended start: uvarint call - intended
//
// A string is a uvarint n: above 0 it is the n-th string defined in the file; 0
// defines the next one, and its length (uvarint) and bytes follow.
const (
	magic         = "\x89lbh\r\n\x1a"
	formatVersion = 1

	blockOps   = 512     // operations in a block at most
	blockBytes = 1 << 20 // a block is closed once its payload is this long
	maxPayload = 16 << 20
)

type blockType uint8

const (
	headerBlock blockType = iota + 1
	streamBlock
	opsBlock
	epochBlock
	cutBlock
	endBlock
)

const (
	hasReturn = 1 << iota
	hasKey
	hasHold
	hasAttempt
	hasAsked
	sameAsked
	grantedAsked
	hasAttempts
	hasWait
	sameWait
	hasGranted
	hasFence
	hasValue
	hasVersion
	hasBase
	hasNote
	hasDelay
	hasSeq
	hasOwner
	hasIntended
	allFlags = 1<<iota - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frame is a block without its payload.
type frame struct {
	kind      blockType
	stream    int32
	count     int
	watermark int64
}

// previousOp has the fields of the operation before, to which the next one in a block is relative.
type previousOp struct {
	key                     string
	call, hold, asked, wait int64
	client, process, stream int32
}

// update makes op the operation before.
func (l *previousOp) update(op *Op) {
	l.key, l.call = op.Key, op.Call
	l.client, l.process, l.stream = op.Client, op.Process, op.Stream
	if op.Hold != 0 {
		l.hold = op.Hold
	}
	if op.Asked != 0 {
		l.asked = op.Asked
	}
	if op.Wait != 0 {
		l.wait = op.Wait
	}
}

// usualAttempts returns the number of attempts that is not written.
func usualAttempts(k Kind) int32 {
	if k == Acquire {
		return 1
	}
	return 0
}

// A blockWriter writes blocks. After an error it writes nothing more. It is not safe for concurrent
// use.
type blockWriter struct {
	w      io.Writer
	frame  []byte // reused for each block
	blocks int
	err    error
}

// write writes one block in a single Write.
func (b *blockWriter) write(f frame, payload []byte) {
	if b.err != nil {
		return
	}
	buf := append(b.frame[:0], byte(f.kind))
	buf = binary.AppendUvarint(buf, uint64(uint32(f.stream)))
	buf = binary.AppendUvarint(buf, uint64(f.count))
	buf = binary.AppendUvarint(buf, uint64(len(payload)))
	buf = binary.AppendVarint(buf, f.watermark)
	buf = append(buf, payload...)
	buf = binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf, castagnoli))
	b.frame = buf
	b.blocks++
	_, b.err = b.w.Write(buf)
}
