package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// readJSONL reads a history in JSON Lines: what [WriteJSONL] writes, or what a
// harness in any language does. The first line is the header, of which schema
// and design are enough; then comes one line per operation, in any order. A lease
// of 2 s, refused to another and released:
//
//	{"schema":"lockbench/history/v2","design":"my-lock"}
//	{"op":"acquire","client":1,"key":"a","call_ns":1000,"return_ns":5000,"outcome":"ok","attempt_ns":1000,"asked_ns":2000000000,"granted_ns":2000000000}
//	{"op":"acquire","client":2,"key":"a","call_ns":2000,"return_ns":6000,"outcome":"refused"}
//	{"op":"release","client":1,"key":"a","call_ns":7000,"return_ns":9000,"outcome":"ok"}
//
// Stamps are ns on one monotonic clock, from the start of the run; a call is
// stamped before the request leaves, a return after its reply came. The ops are
// acquire, release, extend, renew, read and write, and the events lost, death,
// pause, resume and fault, which have a call only. The outcomes are ok, refused,
// lost, failed and unknown; without return_ns an operation never returned, and
// its outcome is unknown. The other fields are those of [Op]:
//
//   - client is the owner: two that could exclude each other are two. After an
//     unknown outcome a client that goes on needs a new number.
//   - granted_ns is the lease that an acquire or extend left; 0 is a lock without a
//     lease. attempt_ns is the start of the attempt that succeeded. An acquire without
//     one of them has no known validity and is not judged; it needs asked_ns then,
//     the lease that it asked for, which also stands for the granted_ns of an extend.
//   - hold joins a release or extend to its acquire. When no operation has one,
//     they are joined by client and key.
//   - note is the class of the error of an operation that is failed or unknown and, after
//     ": ", its words: "noperm: NOPERM this user has no permissions ...".
//   - intended_ns is when an acquire was to begin by the timetable of an open
//     loop; latencies then count from there. Leave it out in a closed loop.
//   - call_seq and return_seq order what has equal stamps.
//
// A header that names no claims claims what a lease lock on one server can keep, see
// [lockbench.LeaseClaims]; "claims":["exclusion","@crash"] are others, see
// [lockbench.Claims.Parse]. Headers of lockbench/history/v1, with the names of then, are
// read as what these mean today. "wakes_ns" says how soon a waiter asks again for a key that became
// free, by polling or since it is told; without it nobody has said.
// Such a file is taken for complete. One with epoch lines, as WriteJSONL writes,
// is complete only with its end line. Unknown fields are errors, with the number
// of their line; what came before it is delivered, as a partial history.
func readJSONL(r io.Reader) (Source, error) {
	j := &jsonl{in: bufio.NewReaderSize(r, 64<<10)}
	j.reading = reading{header: assumed(), events: j.each}
	text, err := j.line()
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = readHeader(text, &j.header, strict)
	}
	if errors.Is(err, errCutLine) {
		ahead, _ := j.in.Peek(min(j.in.Buffered(), longestBlank))
		if says := schemaLine.FindSubmatch(ahead); says != nil && otherDocument(string(says[1])) {
			return nil, fmt.Errorf("history: %w", noHistory(string(says[1])))
		}
	}
	switch {
	case err == nil:
		return j, nil
	case strings.Contains(err.Error(), "; hint: "):
		return nil, fmt.Errorf("history: line 1, the header: %w", err)
	}
	return nil, fmt.Errorf(`history: line 1, the header: %w; hint: begin with {"schema":%q,"design":"my-lock"}`, err, Schema)
}

// schemaLine is the first field of the other documents that lockbench writes, which are
// indented.
var schemaLine = regexp.MustCompile(`^\s*"schema": "([^"]*)"`)

// otherDocument reports whether a file of that schema is lockbench's, and no history.
func otherDocument(schema string) bool {
	return strings.HasPrefix(schema, "lockbench/") && !strings.HasPrefix(schema, "lockbench/history/")
}

// noHistory is the error for a file of another schema.
func noHistory(schema string) error {
	return fmt.Errorf("it is no history, but a %s; hint: lockbench run --history DIR writes histories", schema)
}

// jsonl streams a file with epochs, and keeps one without until its end.
type jsonl struct {
	reading
	in     *bufio.Reader
	lines  int
	merger merger
	ended  bool
	epochs bool  // the file is WriteJSONL's
	torn   bool  // the line just read has no newline
	kept   []*Op // of a file without epochs
}

func (j *jsonl) each(yield func(Event, error) bool) {
	for {
		text, err := j.line()
		var l line
		if err == nil {
			err = strict(text, &l)
		}
		if err == nil {
			err = j.take(&l)
		}
		if err != nil {
			j.finish(err, yield)
			return
		}
		if l.EpochNS != nil && !j.merger.pass(*l.EpochNS, yield) {
			return
		}
	}
}

// maxLine is the longest line read, in bytes.
const maxLine = 16 << 20

// line returns the next line that is not blank. It is valid until the next call.
func (j *jsonl) line() ([]byte, error) {
	for {
		text, err := readLine(j.in)
		j.lines++
		j.torn = errors.Is(err, io.EOF)
		if text = bytes.TrimSpace(text); len(text) > 0 && (err == nil || j.torn) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine reads up to and with the next newline, or to the end and io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	text, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, err
	}
	long := slices.Clone(text)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > maxLine {
			return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
		}
		text, err = in.ReadSlice('\n')
		long = append(long, text...)
	}
	return long, err
}

// strict decodes one JSON value in which every field is known: a field with a
// slip in its name would silently change the verdict.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errCutLine
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

var errCutLine = errors.New("the line is cut short")

// take digests one line.
func (j *jsonl) take(l *line) error {
	switch {
	case j.ended:
		return errors.New("something follows the end line")
	case l.EpochNS != nil:
		if !j.epochs && len(j.kept) > 0 {
			return errors.New("the first epoch comes after operations; hint: leave epochs out, or begin with one")
		}
		j.epochs = true
		return nil
	case l.Cut != nil:
		return j.merger.cut(l.Cut.Client, l.Cut.AtNS)
	case l.End != nil:
		j.end, j.ended = l.End.end(), true
		return nil
	}
	op := new(Op)
	if err := l.into(op); err != nil {
		return err
	}
	if j.epochs {
		return j.merger.add(op)
	}
	j.kept = append(j.kept, op)
	return l.untold(op)
}

// untold has what another program did not tell of a lease accuse nobody: what was asked for was
// granted, and from when on nobody knows.
func (l *line) untold(op *Op) error {
	grants := op.Kind == Acquire || op.Kind == Extend || op.Kind == Renew
	switch {
	case l.GrantedNS != nil || op.Outcome != OK || !grants:
		return nil
	case op.Asked == 0:
		return fmt.Errorf(`the %s has neither "granted_ns" nor "asked_ns"; hint: give the lease that it was granted, in ns, which is 0 for a lock without a lease`, op.Kind)
	}
	op.Granted = op.Asked
	if op.Kind == Acquire {
		op.Attempt = NoStamp
	}
	return nil
}

// into fills op from a line.
func (l *line) into(op *Op) error {
	switch {
	case l.Op == 0:
		return fmt.Errorf(`it has no "op"; hint: one of %q`, kindNames[1:])
	case l.CallNS == nil:
		return errors.New(`it has no "call_ns"`)
	case l.Client == nil:
		return errors.New(`it has no "client"`)
	}
	*op = Op{
		Kind: l.Op, Late: l.Late, Client: *l.Client, Process: l.Process, Stream: l.Stream,
		Key: l.Key + string(l.KeyBytes), Hold: l.Hold, Call: *l.CallNS, CallSeq: l.CallSeq, ReturnSeq: l.ReturnSeq,
		Intended: l.Intended, Asked: l.AskedNS, Granted: orElse(l.GrantedNS, 0), Wait: l.WaitNS, Delay: l.DelayNS,
		Fence: l.Fence, Value: l.Value, Version: l.Version, Base: l.Base, Note: l.Note,
	}
	op.Return = orElse(l.ReturnNS, usualReturn(op))
	op.Attempt = orElse(l.AttemptNS, NoStamp)
	op.Attempts = orElse(l.Attempts, usualAttempts(op.Kind))
	switch {
	case l.Outcome != nil:
		op.Outcome = *l.Outcome
	case op.event():
		op.Outcome = OK
	case op.Return != Never:
		return fmt.Errorf(`it has a "return_ns" but no "outcome"; hint: one of %q`, outcomeNames)
	}
	return op.check()
}

func orElse[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// finish hands over what is left, and the error unless the file just ends.
func (j *jsonl) finish(err error, yield func(Event, error) bool) {
	whole := errors.Is(err, io.EOF)
	cutLine := j.epochs && !j.ended && j.torn && errors.Is(err, errCutLine)
	j.join()
	switch {
	case j.ended:
	case whole && !j.epochs:
		j.end.Trailer = assumedTrailer(j.kept)
	case whole:
		j.stop(errors.New("it is missing: the file has no end line"))
	default:
		j.stop(err)
	}
	if j.merger.rest(yield) && !whole && !cutLine {
		yield(Event{}, fmt.Errorf("history: line %d: %w; hint: only what comes before it can be judged", j.lines, err))
	}
}

// join names the holds of a file that names none, and hands its operations on.
func (j *jsonl) join() {
	if !slices.ContainsFunc(j.kept, func(op *Op) bool { return op.Hold != 0 }) {
		nameHolds(j.kept, j.header.Reacquire)
	}
	for _, op := range j.kept {
		_ = j.merger.add(op) // nothing was passed on yet that it could be too late for
	}
}

// stop makes the history partial: every client's record ends at the last epoch,
// or in a file without epochs where the client was last seen.
func (j *jsonl) stop(why error) {
	j.end = End{Partial: true, Why: fmt.Sprintf("line %d: %v", j.lines, why)}
	j.merger.cutAll(lastStamps(j.kept))
}
