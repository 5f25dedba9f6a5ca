package history

import "encoding/binary"

// An encoder packs the operations of one stream, each relative to the one before. It is not safe
// for concurrent use.
type encoder struct{ last previousOp }

// start begins a batch. Its first operation is relative to the owner of the stream.
func (e *encoder) start(stream, client, process int32) {
	e.last = previousOp{client: client, process: process, stream: stream}
}

// op appends one operation to a batch.
func (e *encoder) op(to *batch, op *Op) {
	flags := e.flags(op)
	b := binary.AppendUvarint(to.packed, flags)
	what := byte(op.Kind)<<4 | byte(op.Outcome)<<1
	if op.Late {
		what |= 1
	}
	b = append(b, what)
	b = binary.AppendVarint(b, op.Call-e.last.call)
	if flags&hasReturn != 0 {
		b = binary.AppendUvarint(b, uint64(op.Return-op.Call))
	}
	if flags&hasKey != 0 {
		to.leaveOut(op.Key, len(b))
	}
	if flags&hasHold != 0 {
		b = binary.AppendVarint(b, op.Hold-e.last.hold)
	}
	if flags&hasAttempt != 0 {
		b = binary.AppendVarint(b, op.Attempt-op.Call)
	}
	b = appendLease(b, op, flags)
	if flags >= hasFence {
		b = appendRare(b, to, op, flags)
	}
	to.packed = b
	to.count++
	e.last.update(op)
}

func appendLease(b []byte, op *Op, flags uint64) []byte {
	if flags&(hasAsked|sameAsked) == hasAsked {
		b = binary.AppendVarint(b, op.Asked)
	}
	if flags&hasAttempts != 0 {
		b = binary.AppendVarint(b, int64(op.Attempts))
	}
	if flags&(hasWait|sameWait) == hasWait {
		b = binary.AppendVarint(b, op.Wait)
	}
	if flags&hasGranted != 0 {
		b = binary.AppendVarint(b, op.Granted)
	}
	return b
}

// appendRare appends the fields that most operations do not have.
func appendRare(b []byte, to *batch, op *Op, flags uint64) []byte {
	if flags&hasFence != 0 {
		b = binary.AppendUvarint(b, op.Fence)
	}
	if flags&hasValue != 0 {
		b = binary.AppendVarint(b, op.Value)
	}
	if flags&hasVersion != 0 {
		b = binary.AppendUvarint(b, op.Version)
	}
	if flags&hasBase != 0 {
		b = binary.AppendUvarint(b, op.Base)
	}
	if flags&hasNote != 0 {
		to.leaveOut(op.Note, len(b))
	}
	if flags&hasDelay != 0 {
		b = binary.AppendVarint(b, op.Delay)
	}
	if flags&hasSeq != 0 {
		b = binary.AppendUvarint(b, op.CallSeq)
		b = binary.AppendUvarint(b, op.ReturnSeq)
	}
	if flags&hasOwner != 0 {
		b = binary.AppendVarint(b, int64(op.Client))
		b = binary.AppendVarint(b, int64(op.Process))
		b = binary.AppendVarint(b, int64(op.Stream))
	}
	if flags&hasIntended != 0 {
		b = binary.AppendUvarint(b, uint64(op.Call-op.Intended))
	}
	return b
}

// flags returns the flags of the fields that op needs written.
func (e *encoder) flags(op *Op) uint64 {
	l := &e.last
	f := flag(op.Return != Never, hasReturn) |
		flag(op.Key != l.key, hasKey) |
		flag(op.Hold != 0, hasHold) |
		flag(op.Attempt != NoStamp, hasAttempt) |
		flag(op.Asked != 0, hasAsked) |
		flag(op.Asked != 0 && op.Asked == l.asked, sameAsked) |
		flag(op.Granted != 0 && op.Granted == op.Asked, grantedAsked) |
		flag(op.Attempts != usualAttempts(op.Kind), hasAttempts) |
		flag(op.Wait != 0, hasWait) |
		flag(op.Wait != 0 && op.Wait == l.wait, sameWait) |
		flag(op.Granted != 0 && op.Granted != op.Asked, hasGranted)
	f |= flag(op.Fence != 0, hasFence) |
		flag(op.Value != 0, hasValue) |
		flag(op.Version != 0, hasVersion) |
		flag(op.Base != 0, hasBase) |
		flag(op.Note != "", hasNote) |
		flag(op.Delay != 0, hasDelay) |
		flag(op.CallSeq|op.ReturnSeq != 0, hasSeq) |
		flag(op.Client != l.client || op.Process != l.process || op.Stream != l.stream, hasOwner) |
		flag(op.Intended != 0, hasIntended)
	return f
}

func flag(set bool, bit uint64) uint64 {
	if set {
		return bit
	}
	return 0
}
