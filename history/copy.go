package history

import (
	"bufio"
	"fmt"
)

// A sink writes a history in one format.
type sink interface {
	op(*Op) error
	epoch(at int64) error
	cut(client int32, at int64) error
	end(End) error
}

// finish flushes, and returns the first of the two errors.
func finish(err error, w *bufio.Writer) error {
	if flushed := w.Flush(); flushed != nil && err == nil {
		return fmt.Errorf("history: write: %w; hint: is there space left where the history goes?", flushed)
	}
	return err
}

// transcribe writes each operation once, at its return, and now and then an epoch, which says that
// all operations up to some stamp are written. So readers of the copy need little memory, too.
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

// A transcript has the operations that were called and are not written yet.
type transcript struct {
	sink     sink
	open     []*Op // in the order of their calls
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

// close removes an operation from the open ones, and then others at the front that have returned.
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
