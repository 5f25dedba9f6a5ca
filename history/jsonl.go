package history

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// JSONSchema is the published description of each line of a history in JSON Lines (JSON Schema,
// draft 2020-12), the header and the lines after it. It allows no other fields, and neither does
// the reader.
//
//go:embed schema/history-v2.json
var JSONSchema []byte

// A line is one line of JSON Lines after the header: an operation, an epoch, a cut or the end. It
// is one flat struct. Its fields have the names and the order of a line.
type line struct {
	Op        Kind     `json:"op,omitzero"`
	Outcome   *Outcome `json:"outcome,omitempty"`
	Late      bool     `json:"late,omitempty"`
	Client    *int32   `json:"client,omitempty"`
	Process   int32    `json:"process,omitempty"`
	Stream    int32    `json:"stream,omitempty"`
	Key       *string  `json:"key,omitempty"`
	KeyBytes  []byte   `json:"key_base64,omitempty"`
	Hold      *int64   `json:"hold,omitempty"`
	CallNS    *int64   `json:"call_ns,omitempty"`
	ReturnNS  *int64   `json:"return_ns,omitempty"`
	CallSeq   uint64   `json:"call_seq,omitempty"`
	ReturnSeq uint64   `json:"return_seq,omitempty"`
	AttemptNS *int64   `json:"attempt_ns,omitempty"`
	Attempts  *int32   `json:"attempts,omitempty"`
	Intended  int64    `json:"intended_ns,omitempty"`
	AskedNS   int64    `json:"asked_ns,omitempty"`
	GrantedNS *int64   `json:"granted_ns,omitempty"`
	WaitNS    int64    `json:"wait_ns,omitempty"`
	DelayNS   int64    `json:"delay_ns,omitempty"`
	Fence     uint64   `json:"fence,omitempty"`
	Value     int64    `json:"value,omitempty"`
	Version   *uint64  `json:"version,omitempty"`
	Base      uint64   `json:"base,omitempty"`
	Note      string   `json:"note,omitempty"`
	EpochNS   *int64   `json:"epoch_ns,omitempty"`
	Cut       *cutLine `json:"cut,omitempty"`
	End       *endJSON `json:"end,omitempty"`
}

type cutLine struct {
	Client *int32 `json:"client"`
	AtNS   *int64 `json:"at_ns"`
}

// WriteJSONL writes src as JSON Lines. [NewSource] reads the same history from them, except for
// bytes of notes that are not UTF-8. If reading src fails, it writes the events before as a partial
// history, and returns the error.
func WriteJSONL(w io.Writer, src Source) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	s, err := newJSONSink(buffered, src.Header())
	if err != nil {
		return err
	}
	return finish(transcribe(src, s), buffered)
}

type jsonSink struct{ enc *json.Encoder }

// newJSONSink begins a history in JSON Lines.
func newJSONSink(w io.Writer, h Header) (jsonSink, error) {
	s := jsonSink{json.NewEncoder(w)}
	s.enc.SetEscapeHTML(false)
	if err := s.enc.Encode(h); err != nil {
		return s, fmt.Errorf("history: write the header: %w", err)
	}
	// An epoch comes first: if the history is cut short after it, a reader does not take it for a
	// complete history of another program.
	if err := s.epoch(0); err != nil {
		return s, fmt.Errorf("history: write: %w", err)
	}
	return s, nil
}

func (s jsonSink) epoch(at int64) error { return s.enc.Encode(line{EpochNS: &at}) }

func (s jsonSink) cut(client int32, at int64) error {
	return s.enc.Encode(line{Cut: &cutLine{&client, &at}})
}

func (s jsonSink) end(end End) error {
	e := endingOf(end)
	return s.enc.Encode(line{End: &e})
}

func (s jsonSink) op(op *Op) error {
	l := line{
		Op: op.Kind, Outcome: &op.Outcome, Late: op.Late,
		Client: &op.Client, Process: op.Process, Stream: op.Stream,
		CallNS: &op.Call, CallSeq: op.CallSeq, ReturnSeq: op.ReturnSeq,
		Intended: op.Intended, AskedNS: op.Asked, WaitNS: op.Wait, DelayNS: op.Delay,
		Fence: op.Fence, Value: op.Value, Base: op.Base, Note: op.Note,
	}
	switch {
	case !utf8.ValidString(op.Key):
		l.KeyBytes = []byte(op.Key)
	case op.Key != "" || !op.event():
		l.Key = &op.Key
	}
	if op.Hold != 0 || op.belongs() { // a hold of zero means none
		l.Hold = &op.Hold
	}
	if op.Version != 0 || op.Kind == Read || op.Kind == Write {
		l.Version = &op.Version
	}
	if op.Granted != NotTold && (op.Granted != 0 || op.mayGrant()) { // a lease of zero means none
		l.GrantedNS = &op.Granted
	}
	if op.Return != usualReturn(op) {
		l.ReturnNS = &op.Return
	}
	if op.Attempt >= 0 && !op.event() {
		l.AttemptNS = &op.Attempt
	}
	if op.Attempts != usualAttempts(op.Kind) {
		l.Attempts = &op.Attempts
	}
	return s.enc.Encode(l)
}

// usualReturn returns the return that is not written.
func usualReturn(op *Op) int64 {
	if op.event() {
		return op.Call
	}
	return Never
}
