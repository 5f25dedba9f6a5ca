package history

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A decoder unpacks the operations of the blocks of one file, in order. It is not safe for
// concurrent use.
type decoder struct {
	strings []string
	last    previousOp
	slab    slab
}

// start begins a block; see encoder.start.
func (d *decoder) start(stream, client, process int32) {
	d.last = previousOp{client: client, process: process, stream: stream}
}

// ops unpacks count operations of a payload and passes each to add.
func (d *decoder) ops(payload []byte, count int, add func(*Op) error) error {
	in := payloadReader{rest: payload}
	for i := range count {
		op := d.slab.next(in.outcome())
		if err := d.op(&in, op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if err := add(op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	if len(in.rest) > 0 {
		return fmt.Errorf("%d bytes are left after %d operations", len(in.rest), count)
	}
	return nil
}

func (d *decoder) op(in *payloadReader, op *Op) error {
	flags := in.uvarint()
	what := in.byte()
	op.Kind, op.Outcome, op.Late = Kind(what>>4), Outcome(what>>1&7), what&1 != 0
	op.Call = d.last.call + in.varint()
	op.Return = Never
	if flags&hasReturn != 0 {
		op.Return = op.Call + int64(in.uvarint())
	}
	op.Key = d.last.key
	if flags&hasKey != 0 {
		op.Key = d.string(in)
	}
	if flags&hasHold != 0 {
		op.Hold = d.last.hold + in.varint()
	}
	op.Attempt = NoStamp
	if flags&hasAttempt != 0 {
		op.Attempt = op.Call + in.varint()
	}
	d.lease(in, op, flags)
	op.Client, op.Process, op.Stream = d.last.client, d.last.process, d.last.stream
	if flags >= hasFence {
		d.rare(in, op, flags)
	}
	d.last.update(op)
	if in.bad || flags > allFlags {
		return errors.New("the bytes make no operation")
	}
	return op.check()
}

func (d *decoder) lease(in *payloadReader, op *Op, flags uint64) {
	switch flags & (hasAsked | sameAsked) {
	case hasAsked:
		op.Asked = in.varint()
	case hasAsked | sameAsked:
		op.Asked = d.last.asked
	}
	op.Attempts = usualAttempts(op.Kind)
	if flags&hasAttempts != 0 {
		op.Attempts = int32(in.varint())
	}
	switch flags & (hasWait | sameWait) {
	case hasWait:
		op.Wait = in.varint()
	case hasWait | sameWait:
		op.Wait = d.last.wait
	}
	if flags&grantedAsked != 0 {
		op.Granted = op.Asked
	}
	if flags&hasGranted != 0 {
		op.Granted = in.varint()
	}
}

func (d *decoder) rare(in *payloadReader, op *Op, flags uint64) {
	if flags&hasFence != 0 {
		op.Fence = in.uvarint()
	}
	if flags&hasValue != 0 {
		op.Value = in.varint()
	}
	if flags&hasVersion != 0 {
		op.Version = in.uvarint()
	}
	if flags&hasBase != 0 {
		op.Base = in.uvarint()
	}
	if flags&hasNote != 0 {
		op.Note = d.string(in)
	}
	if flags&hasDelay != 0 {
		op.Delay = in.varint()
	}
	if flags&hasSeq != 0 {
		op.CallSeq, op.ReturnSeq = in.uvarint(), in.uvarint()
	}
	if flags&hasOwner != 0 {
		op.Client, op.Process, op.Stream = int32(in.varint()), int32(in.varint()), int32(in.varint())
	}
	if flags&hasIntended != 0 {
		op.Intended = op.Call - int64(in.uvarint())
	}
}

func (d *decoder) string(in *payloadReader) string {
	n := in.uvarint()
	if n == 0 {
		s := string(in.bytes(in.uvarint()))
		d.strings = append(d.strings, s)
		return s
	}
	if n > uint64(len(d.strings)) {
		in.bad = true
		return ""
	}
	return d.strings[n-1]
}

// check returns an error if no recorder writes such an operation, so that no checker can judge it.
func (op *Op) check() error {
	switch {
	case op.Kind == 0 || int(op.Kind) >= len(kindNames):
		return fmt.Errorf("%d is no kind of operation", op.Kind)
	case int(op.Outcome) >= len(outcomeNames):
		return fmt.Errorf("%d is no outcome", op.Outcome)
	case op.Call < 0:
		return fmt.Errorf("the %s is called at %d ns, before the run began", op.Kind, op.Call)
	case op.Return < op.Call:
		return fmt.Errorf("the %s returns at %d ns, before its call at %d ns", op.Kind, op.Return, op.Call)
	case op.Intended < 0 || op.Intended > op.Call:
		return fmt.Errorf("the %s is called at %d ns, and was to begin at %d ns; hint: an intended start lies within the run and not after the call", op.Kind, op.Call, op.Intended)
	}
	return nil
}

// event reports whether op is an event, which has a call and no return.
func (op *Op) event() bool { return op.Kind >= Lost }

// A slab allocates operations in chunks. A receiver that keeps one operation keeps its chunk in
// memory, so chunks are small, and operations of unknown outcome, which a checker keeps for long,
// are allocated one by one.
type slab struct{ free []Op }

const slabOps = 8

func (s *slab) next(o Outcome) *Op {
	if o == Unknown {
		return new(Op)
	}
	if len(s.free) == 0 {
		s.free = make([]Op, slabOps)
	}
	op := &s.free[0]
	s.free = s.free[1:]
	return op
}

// A payloadReader reads numbers from a payload. Reading past the end sets bad and returns zeros.
type payloadReader struct {
	rest []byte
	bad  bool
}

// outcome returns the outcome of the next operation without reading it, if its bytes are valid.
func (in *payloadReader) outcome() Outcome {
	for i, b := range in.rest { // over the flags, a uvarint
		if b < 0x80 {
			return Outcome(in.rest[min(i+1, len(in.rest)-1)] >> 1 & 7)
		}
	}
	return Unknown
}

func (in *payloadReader) byte() byte {
	if len(in.rest) == 0 {
		in.bad = true
		return 0
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b
}

func (in *payloadReader) uvarint() uint64 {
	if b := in.rest; len(b) > 3 { // most numbers are short
		switch {
		case b[0] < 0x80:
			in.rest = b[1:]
			return uint64(b[0])
		case b[1] < 0x80:
			in.rest = b[2:]
			return uint64(b[0]&0x7f) | uint64(b[1])<<7
		case b[2] < 0x80:
			in.rest = b[3:]
			return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2])<<14
		case b[3] < 0x80:
			in.rest = b[4:]
			return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2]&0x7f)<<14 | uint64(b[3])<<21
		}
	}
	v, n := binary.Uvarint(in.rest)
	if n <= 0 {
		in.bad = true
		in.rest = nil
		return 0
	}
	in.rest = in.rest[n:]
	return v
}

func (in *payloadReader) varint() int64 {
	u := in.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (in *payloadReader) bytes(n uint64) []byte {
	if n > uint64(len(in.rest)) {
		in.bad = true
		return nil
	}
	b := in.rest[:n]
	in.rest = in.rest[n:]
	return b
}
