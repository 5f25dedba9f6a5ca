package history

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// A Writer writes a history of complete operations: a synthetic history, or one
// converted from another program's records. Operations come in any order that keeps
// what the epochs promise. It is not safe for concurrent use. The first error stays:
// all calls after it return it and write nothing.
type Writer struct {
	sink     sink
	buffered *bufio.Writer
	err      error
}

// NewWriter begins a native file on w, laid out as a [Recorder] lays it out: each
// stream's operations in blocks of their own. It fills in h's Schema. The caller
// keeps w open until [Writer.Close] has returned, and closes it.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{buffered: bufio.NewWriterSize(w, 256<<10)}
	s := &streamFile{out: blockWriter{w: out.buffered}}
	out.sink = s
	h.Schema = Schema
	return out, s.out.open(h)
}

// NewJSONLWriter begins a history in JSON Lines on w, as [WriteJSONL] does. It fills
// in h's Schema.
func NewJSONLWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{buffered: bufio.NewWriterSize(w, 256<<10)}
	h.Schema = Schema
	s, err := newJSONSink(out.buffered, h)
	out.sink = s
	return out, err
}

// Write writes one operation or event, which it does not keep. Operations of one
// stream have one client and process.
func (w *Writer) Write(op *Op) error {
	if w.err == nil {
		w.note(op.check())
	}
	if w.err == nil {
		w.note(w.sink.op(op))
	}
	return w.err
}

// Epoch promises that no operation called before at (ns) is still to come, so that a
// reader can sort and judge what came before it.
func (w *Writer) Epoch(at int64) error {
	if w.err == nil {
		w.note(w.sink.epoch(at))
	}
	return w.err
}

// Close ends the history. The writer given to NewWriter stays open.
func (w *Writer) Close(end End) error {
	if w.err == nil {
		w.note(w.sink.end(end))
	}
	if w.err == nil {
		w.note(w.buffered.Flush())
	}
	return w.err
}

func (w *Writer) note(err error) {
	if err == nil || w.err != nil {
		return
	}
	if w.err = fmt.Errorf("history: write: %w", err); w.buffered.Flush() != nil { // it was not the operation's fault
		w.err = fmt.Errorf("%w; hint: is there space left where the history goes?", w.err)
	}
}

// streamFile is a native file of many streams. It writes a block when it is full, and
// at each epoch.
type streamFile struct {
	out     blockWriter
	words   stringTable
	payload []byte
	open    []*openStream // by stream; nil where it has none yet
	covered int64         // the latest epoch
}

// An openStream is one stream that is written.
type openStream struct {
	encoder         encoder
	batch           batch
	client, process int32
}

// maxStreams bounds the memory that a stream's number can ask for.
const maxStreams = 1 << 20

func (s *streamFile) op(op *Op) error {
	if op.Stream < 0 || op.Stream >= maxStreams {
		return fmt.Errorf("%d is no stream: they are numbered from 0 to %d", op.Stream, maxStreams-1)
	}
	l := s.streamOf(op)
	if l.batch.count == 0 {
		l.encoder.start(op.Stream, l.client, l.process)
	}
	l.encoder.op(&l.batch, op)
	if l.batch.full() {
		s.writeBatch(op.Stream, l)
	}
	return s.out.err
}

// streamOf returns the stream that op belongs to, announced to the reader.
func (s *streamFile) streamOf(op *Op) *openStream {
	for int(op.Stream) >= len(s.open) {
		s.open = append(s.open, nil)
	}
	if s.open[op.Stream] == nil {
		s.open[op.Stream] = &openStream{client: op.Client, process: op.Process}
		owner := binary.AppendVarint(nil, int64(op.Client))
		owner = binary.AppendVarint(owner, int64(op.Process))
		s.out.write(frame{kind: streamBlock, stream: op.Stream, watermark: s.covered}, owner)
	}
	return s.open[op.Stream]
}

// writeBatch writes the operations of one stream as a block.
func (s *streamFile) writeBatch(stream int32, l *openStream) {
	s.payload = s.words.appendPayload(s.payload[:0], &l.batch)
	s.out.write(frame{opsBlock, stream, l.batch.count, s.covered}, s.payload)
	l.batch.reset()
}

func (s *streamFile) writeAll() {
	for stream, l := range s.open {
		if l != nil && l.batch.count > 0 {
			s.writeBatch(int32(stream), l)
		}
	}
}

func (s *streamFile) epoch(at int64) error {
	s.writeAll()
	s.out.write(frame{kind: epochBlock, watermark: at}, nil)
	s.covered = max(s.covered, at)
	return s.out.err
}

func (s *streamFile) cut(client int32, at int64) error {
	s.writeAll()
	s.out.write(frame{kind: cutBlock, watermark: at}, binary.AppendVarint(nil, int64(client)))
	return s.out.err
}

func (s *streamFile) end(end End) error {
	s.writeAll()
	text, err := marshalEnd(end)
	if err != nil {
		return err
	}
	s.out.write(frame{kind: endBlock}, text)
	return s.out.err
}
