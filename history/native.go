package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"strings"
)

// readNative reads a history in the native file format, see format.go. An unknown version or a
// damaged header is an error at once. Damage further on is an error of Events, after the events
// before it. A file that just ends early is no error, but sets End().Partial.
func readNative(r io.Reader) (Source, error) {
	n := &nativeReader{in: bufio.NewReaderSize(r, 256<<10), covered: map[int32]int64{}, owners: map[int32]owner{}}
	n.events = n.each
	if err := n.open(); err != nil {
		return nil, err
	}
	return n, nil
}

// A nativeReader reads one native file. It counts blocks from 1.
type nativeReader struct {
	sourceBase
	in      *bufio.Reader
	decoder decoder
	merger  merger
	ended   bool // there was an end block

	blocks   int   // complete blocks read so far
	offset   int64 // of the block being read, in bytes
	length   int64 // of the block just read
	body     bytes.Buffer
	owners   map[int32]owner // by stream
	covered  map[int32]int64 // by stream: its largest watermark, if above the merger's floor
	nextDrop int             // number of entries at which dropCovered runs
}

// An owner is the client of a stream, and its process.
type owner struct{ client, process int32 }

func (n *nativeReader) open() error {
	head := make([]byte, len(magic)+1)
	if _, err := io.ReadFull(n.in, head); err != nil || string(head[:len(magic)]) != magic {
		return errors.New("history: this is no native history: it does not begin with the magic bytes; hint: was it transferred as text?")
	}
	if v := head[len(magic)]; v != formatVersion {
		return fmt.Errorf("history: the file has format version %d, this lockbench reads version %d; hint: use a newer lockbench", v, formatVersion)
	}
	n.offset = int64(len(head))
	f, err := n.block()
	switch {
	case err == nil && f.kind != headerBlock:
		err = fmt.Errorf("the first block is of type %d, not a header", f.kind)
	case err == nil:
		err = n.setHeader()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends there")
	}
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "; hint: "):
		return fmt.Errorf("history: block 1 (offset %d), the header: %w", n.offset, err)
	default:
		return fmt.Errorf("history: block 1 (offset %d), the header: %w; hint: nothing of such a file can be judged", n.offset, err)
	}
	n.next()
	return nil
}

func (n *nativeReader) setHeader() error {
	return readHeader(n.body.Bytes(), &n.header, json.Unmarshal)
}

// next advances past the block just read.
func (n *nativeReader) next() {
	n.blocks++
	n.offset += n.length
}

func (n *nativeReader) each(yield func(Event, error) bool) {
	for {
		f, err := n.block()
		if err == nil {
			err = n.apply(f)
		}
		if err != nil {
			n.finish(err, yield)
			return
		}
		n.next()
		if f.kind != epochBlock {
			continue
		}
		if !n.merger.passBelow(f.watermark, yield) {
			return
		}
		n.dropCovered()
	}
}

// dropCovered occasionally drops watermarks below the last epoch's. Most are of streams that have
// ended.
func (n *nativeReader) dropCovered() {
	if len(n.covered) < n.nextDrop {
		return
	}
	maps.DeleteFunc(n.covered, func(_ int32, at int64) bool { return at <= n.merger.floor })
	n.nextDrop = 2*len(n.covered) + 64
}

// finish passes on the remaining events, and then the error unless the file just ends.
func (n *nativeReader) finish(err error, yield func(Event, error) bool) {
	fault := n.errorAt(err)
	if !n.ended {
		n.end = End{Partial: true, Why: strings.TrimPrefix(fault.Error(), "history: ")}
		n.merger.cutAll(n.coveredUntil())
	}
	if !n.merger.passAll(yield) {
		return
	}
	early := !n.ended && errors.Is(err, io.ErrUnexpectedEOF)
	if !early && !errors.Is(err, io.EOF) {
		yield(Event{}, fault)
	}
}

// errorAt returns err with the block in which it occurred.
func (n *nativeReader) errorAt(err error) error {
	at := fmt.Sprintf("history: block %d (offset %d)", n.blocks+1, n.offset)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is cut short: the recording was killed or the file truncated", at)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s is missing: the file has no end block, the recording was killed", at)
	}
	return fmt.Errorf("%s: %w; hint: only what comes before it can be judged", at, err)
}

// coveredUntil returns a function that returns the stamp up to which the record of a client is
// known to be complete.
func (n *nativeReader) coveredUntil() func(int32) int64 {
	whole := map[int32]int64{}
	for stream, o := range n.owners {
		at := max(n.covered[stream], n.merger.floor)
		if known, ok := whole[o.client]; !ok || at < known {
			whole[o.client] = at
		}
	}
	return func(client int32) int64 { return whole[client] }
}

// apply applies a complete block.
func (n *nativeReader) apply(f frame) error {
	if n.ended {
		return errors.New("something follows the end block")
	}
	switch f.kind {
	case streamBlock:
		return n.takeStream(f)
	case opsBlock:
		return n.takeOps(f)
	case epochBlock:
		return nil
	case cutBlock:
		in := payloadReader{rest: n.body.Bytes()}
		client := int32(in.varint())
		if in.bad {
			return errors.New("the cut names no client")
		}
		return n.merger.cut(client, f.watermark)
	case endBlock:
		return n.takeEnd()
	}
	return fmt.Errorf("%d is no type of block; hint: use a newer lockbench", f.kind)
}

func (n *nativeReader) takeOps(f frame) error {
	o := n.owners[f.stream]
	n.decoder.start(f.stream, o.client, o.process)
	if err := n.decoder.ops(n.body.Bytes(), f.count, n.merger.add); err != nil {
		return err
	}
	n.covered[f.stream] = max(n.covered[f.stream], f.watermark)
	return nil
}

func (n *nativeReader) takeStream(f frame) error {
	in := payloadReader{rest: n.body.Bytes()}
	o := owner{int32(in.varint()), int32(in.varint())}
	if in.bad {
		return errors.New("the stream names no client")
	}
	n.owners[f.stream] = o
	n.covered[f.stream] = max(n.covered[f.stream], f.watermark)
	n.merger.addOwner(o.client)
	return nil
}

func (n *nativeReader) takeEnd() error {
	var e endJSON
	if err := json.Unmarshal(n.body.Bytes(), &e); err != nil {
		return fmt.Errorf("the end: %w", err)
	}
	n.end, n.ended = e.end(), true
	return nil
}

// block reads the next block; its payload is in n.body until the next call. At
// the end of the file the error is io.EOF, inside a block io.ErrUnexpectedEOF.
func (n *nativeReader) block() (frame, error) {
	f, size, length, err := n.frame()
	if err != nil {
		return frame{}, err
	}
	head, _ := n.in.Peek(size)
	sum := crc32.Checksum(head, castagnoli)
	_, _ = n.in.Discard(size)
	return f, n.readBody(size, length, sum)
}

// frame returns the fields before the next payload, their size and the length of the payload. It
// reads no further, so that a block is read as soon as it is written.
func (n *nativeReader) frame() (f frame, size int, length int64, err error) {
	for want := 1; ; want++ {
		head, err := n.in.Peek(max(want, min(n.in.Buffered(), maxFrame)))
		want = len(head)
		if want == 0 {
			return f, 0, 0, err
		}
		in := payloadReader{rest: head}
		f = frame{kind: blockType(in.byte())}
		stream, count, length := in.uvarint(), in.uvarint(), in.uvarint()
		f.watermark = in.varint()
		switch {
		case in.bad && err == nil && want < maxFrame:
			continue
		case in.bad && errors.Is(err, io.EOF):
			return f, 0, 0, io.ErrUnexpectedEOF
		case in.bad, stream > 1<<32-1, length > maxPayload, count > length:
			return f, 0, 0, errDamaged
		}
		f.stream, f.count = int32(uint32(stream)), int(count)
		return f, want - len(in.rest), int64(length), nil
	}
}

// maxFrame is the largest size of the fields before a payload, in bytes.
const maxFrame = 1 + 4*binary.MaxVarintLen64

var errDamaged = errors.New("damaged: its checksum or length is wrong")

// readBody reads a payload and the checksum that ends its block. It allocates memory for the bytes
// that exist, not for the length that a damaged block states.
func (n *nativeReader) readBody(size int, length int64, sum uint32) error {
	n.body.Reset()
	if _, err := io.CopyN(&n.body, n.in, length+crc32.Size); errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	n.length = int64(size) + length + crc32.Size
	text := n.body.Bytes()
	if crc32.Update(sum, castagnoli, text[:length]) != binary.LittleEndian.Uint32(text[length:]) {
		return errDamaged
	}
	n.body.Truncate(int(length))
	return nil
}
