package history

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// sink takes down a history in another form.
type sink interface {
	op(*Op) error
	epoch(at int64) error
	cut(client int32, at int64) error
	end(End) error
}

// WriteNative writes src as a native file. It returns src's own error too, after
// writing what came before it as a partial history.
func WriteNative(w io.Writer, src Source) error {
	buffered := bufio.NewWriterSize(w, 256<<10)
	s := &nativeSink{nativeFile: nativeFile{}}
	s.out.w, s.flush = buffered, s.writeBatch
	if err := s.out.open(src.Header()); err != nil {
		return err
	}
	return finish(transcribe(src, s), buffered)
}

// finish flushes, and returns the first of the two errors.
func finish(err error, w *bufio.Writer) error {
	if flushed := w.Flush(); flushed != nil && err == nil {
		return fmt.Errorf("history: write: %w; hint: is there space left where the history goes?", flushed)
	}
	return err
}

// transcribe writes each operation once, at its return, so that a reader of the
// copy needs little memory too: every now and then an epoch says what is in.
func transcribe(src Source, s sink) error {
	t := transcript{sink: s}
	var broken error
	for ev, err := range src.Events() {
		if err != nil {
			broken = err
			break
		}
		if err := t.event(ev); err != nil {
			return fmt.Errorf("history: write: %w", err)
		}
	}
	for _, op := range t.open {
		if _, returned := t.returned[op]; returned {
			continue
		}
		if err := s.op(op); err != nil {
			return fmt.Errorf("history: write: %w", err)
		}
	}
	if err := s.end(src.End()); err != nil {
		return fmt.Errorf("history: write: %w", err)
	}
	return broken
}

// transcript keeps the operations that were called and not written yet.
type transcript struct {
	sink     sink
	open     []*Op // by call
	returned map[*Op]struct{}
	written  int
}

func (t *transcript) event(ev Event) error {
	op := ev.Op
	switch {
	case ev.Phase == Cut:
		return t.sink.cut(op.Client, op.Call)
	case ev.Phase == Call && op.Return != Never && !op.event():
		t.open = append(t.open, op)
		return nil
	case ev.Phase == Return:
		t.close(op)
	}
	if err := t.sink.op(op); err != nil {
		return err
	}
	t.written++
	if t.written%blockOps != 0 {
		return nil
	}
	at := op.Call
	if ev.Phase == Return {
		at = op.Return
	}
	if len(t.open) > 0 {
		at = min(at, t.open[0].Call)
	}
	return t.sink.epoch(at)
}

// close takes an operation off the open ones; their first is always open.
func (t *transcript) close(op *Op) {
	if t.returned == nil {
		t.returned = map[*Op]struct{}{}
	}
	t.returned[op] = struct{}{}
	for len(t.open) > 0 {
		if _, returned := t.returned[t.open[0]]; !returned {
			return
		}
		delete(t.returned, t.open[0])
		t.open = t.open[1:]
	}
}

// nativeSink writes one stream of blocks in which every operation names its owner.
type nativeSink struct {
	nativeFile
	enc   encoder
	batch batch
}

func (s *nativeSink) op(op *Op) error {
	if s.batch.count == 0 {
		s.enc.start(0, 0, 0)
	}
	s.enc.op(&s.batch, op)
	if s.batch.full() {
		s.writeBatch()
	}
	return s.out.err
}

func (s *nativeSink) writeBatch() {
	if s.batch.count > 0 {
		s.ops(frame{kind: opsBlock, count: s.batch.count}, &s.batch)
	}
}

// nativeFile is the part of a sink that writes blocks.
type nativeFile struct {
	out     blockWriter
	words   vocabulary
	payload []byte
	flush   func() // writes the operations that wait for a block to fill up
}

// ops writes a batch as a block, and empties it.
func (s *nativeFile) ops(f frame, b *batch) {
	s.payload = s.words.appendPayload(s.payload[:0], b)
	s.out.write(f, s.payload)
	b.reset()
}

func (s *nativeFile) epoch(at int64) error {
	s.flush()
	s.out.write(frame{kind: epochBlock, watermark: at}, nil)
	return s.out.err
}

func (s *nativeFile) cut(client int32, at int64) error {
	s.flush()
	s.out.write(frame{kind: cutBlock, watermark: at}, binary.AppendVarint(nil, int64(client)))
	return s.out.err
}

func (s *nativeFile) end(end End) error {
	s.flush()
	text, err := marshalEnd(end)
	if err != nil {
		return err
	}
	s.out.write(frame{kind: endBlock}, text)
	return s.out.err
}
