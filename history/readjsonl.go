package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// readJSONL reads a history in JSON Lines, written by [WriteJSONL] or by a recorder in any
// language. docs/history-format.md has the format. An invalid line is an error with its number,
// after the events before it, which form a partial history.
func readJSONL(r io.Reader) (Source, error) {
	j := &jsonlReader{in: bufio.NewReaderSize(r, 64<<10)}
	j.sourceBase = sourceBase{header: assumed(), events: j.each}
	text, err := j.line()
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = readHeader(text, &j.header, strict)
	}
	if err == nil {
		err = j.header.check()
	}
	if errors.Is(err, errCutLine) {
		ahead, _ := j.in.Peek(min(j.in.Buffered(), maxBlank))
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

// schemaLine matches the first field of the other, indented, documents that lockbench writes.
var schemaLine = regexp.MustCompile(`^\s*"schema": "([^"]*)"`)

// otherDocument reports whether a file of that schema is a document of lockbench other than a
// history.
func otherDocument(schema string) bool {
	return strings.HasPrefix(schema, "lockbench/") && !strings.HasPrefix(schema, "lockbench/history/")
}

// noHistory returns the error for a file of another schema.
func noHistory(schema string) error {
	return fmt.Errorf("it is no history, but a %s; hint: lockbench run --history DIR writes histories", schema)
}

// A jsonlReader streams a file with epochs. A file without epochs is kept in memory until its end.
type jsonlReader struct {
	sourceBase
	in           *bufio.Reader
	lines        int
	merger       merger
	ended        bool
	epochs       bool  // WriteJSONL wrote the file
	unterminated bool  // the line just read has no newline
	ops          []*Op // of a file without epochs
	holdsNamed   bool  // operations name their holds; unknown unless namingKnown
	namingKnown  bool
}

func (j *jsonlReader) each(yield func(Event, error) bool) {
	for {
		text, err := j.line()
		var l line
		if err == nil {
			err = strictLine(text, &l)
		}
		if err == nil {
			err = j.apply(&l)
		}
		if err != nil {
			j.finish(err, yield)
			return
		}
		if l.EpochNS != nil && !j.merger.passBelow(*l.EpochNS, yield) {
			return
		}
	}
}

// maxLine is the longest line, in bytes.
const maxLine = 16 << 20

// line returns the next line that is not blank. It is valid until the next call.
func (j *jsonlReader) line() ([]byte, error) {
	for {
		text, err := readLine(j.in)
		j.lines++
		j.unterminated = errors.Is(err, io.EOF)
		if text = bytes.TrimSpace(text); len(text) > 0 && (err == nil || j.unterminated) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine reads up to and including the next newline, or to the end and io.EOF.
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

// strictLine decodes a line as strict does. A missing value is a missing field, not null.
func strictLine(text []byte, l *line) error {
	if err := strict(text, l); err != nil {
		return err
	}
	if bytes.Contains(text, []byte("null")) {
		if err := eachField(text, notNull); err != nil {
			return err
		}
	}
	if l.Key != nil && bytes.Contains(text, []byte(`\u`)) && loneSurrogate(text) {
		return fmt.Errorf(`"key" is %q, which is not UTF-8: an escape is half of a character; hint: key_base64 has keys of any bytes`, *l.Key)
	}
	return nil
}

func notNull(name, value []byte) error {
	if string(value) == "null" {
		return fmt.Errorf("%q is null; hint: leave out what is not known", name)
	}
	return nil
}

// apply applies one line.
func (j *jsonlReader) apply(l *line) error {
	switch {
	case j.ended:
		return errors.New("something follows the end line")
	case l.Op == 0 && l.isMark():
		return j.applyMark(l)
	}
	op := new(Op)
	if err := l.into(op); err != nil {
		return err
	}
	if err := j.checkHolds(l, op); err != nil {
		return err
	}
	if j.epochs {
		return j.merger.add(op)
	}
	j.ops = append(j.ops, op)
	return nil
}

// isMark reports whether a line is an epoch, a cut or the end.
func (l *line) isMark() bool {
	n := 0
	for _, given := range []bool{l.EpochNS != nil, l.Cut != nil, l.End != nil} {
		if given {
			n++
		}
	}
	return n == 1
}

// applyMark applies an epoch, a cut or the end.
func (j *jsonlReader) applyMark(l *line) error {
	switch {
	case l.EpochNS != nil:
		if !j.epochs && len(j.ops) > 0 {
			return errors.New("the first epoch comes after operations; hint: leave epochs out, or begin with one")
		}
		if *l.EpochNS < 0 {
			return fmt.Errorf(`"epoch_ns" is %d, before the run began; hint: every operation called before it has been written`, *l.EpochNS)
		}
		j.epochs = true
	case l.Cut != nil:
		if l.Cut.Client == nil || l.Cut.AtNS == nil {
			return errors.New(`the cut lacks "client" or "at_ns"; hint: {"cut":{"client":1,"at_ns":1000}}`)
		}
		return j.merger.cut(*l.Cut.Client, *l.Cut.AtNS)
	default:
		j.end, j.ended = l.End.end(), true
	}
	return nil
}

// checkHolds returns an error unless either all operations name their holds or, in a file without
// epochs, none does. If some release named none while others do, its grant would count as held.
func (j *jsonlReader) checkHolds(l *line, op *Op) error {
	if !op.belongs() {
		if op.Kind == Acquire && op.Outcome == Unknown && op.Hold == 0 && (j.holdsNamed || j.epochs) {
			op.Hold = int64(-j.lines) // a hold of its own, in case it was granted
		}
		return nil
	}
	switch named := l.Hold != nil; {
	case named == j.holdsNamed && (named || !j.epochs):
	case j.namingKnown || j.epochs && !named:
		where := map[bool]string{true: "in this %s, and in none before", false: "not in this %s, and in those before"}[named]
		if j.epochs && !named {
			where = "not in this %s"
		}
		return fmt.Errorf(`"hold" is `+where+`; hint: every acquire that is granted, every extend and release names its hold or, in a file without epochs, none does`, op.Kind)
	default:
		j.holdsNamed = named
	}
	j.namingKnown = true
	return nil
}

// finish passes on the remaining events, and then the error unless the file just ends.
func (j *jsonlReader) finish(err error, yield func(Event, error) bool) {
	whole := errors.Is(err, io.EOF)
	cutLine := j.epochs && !j.ended && j.unterminated && errors.Is(err, errCutLine)
	j.addUnnamed()
	switch {
	case j.ended:
		if j.end.Partial && !j.merger.cuts { // after the last epoch the file may be incomplete
			j.merger.cutAll(lastStamps(j.ops))
		}
	case whole && !j.epochs:
		j.end.Trailer = assumedTrailer(j.ops)
	case whole:
		j.stop(errors.New("it is missing: the file has no end line"))
	default:
		j.stop(err)
	}
	if j.merger.passAll(yield) && !whole && !cutLine {
		if !strings.Contains(err.Error(), "; hint: ") {
			err = fmt.Errorf("%w; hint: only what comes before it can be judged", err)
		}
		yield(Event{}, fmt.Errorf("history: line %d: %w", j.lines, err))
	}
}

// addUnnamed names the holds of the operations of a file that names none, and adds the operations
// to the merger.
func (j *jsonlReader) addUnnamed() {
	if !j.holdsNamed {
		nameHolds(j.ops, j.header.Reacquire)
	}
	for _, op := range j.ops {
		_ = j.merger.add(op) // nothing was passed on yet that it could be too late for
	}
}

// stop makes the history partial: the record of every client ends at the last epoch or, in a file
// without epochs, at the client's last stamp.
func (j *jsonlReader) stop(why error) {
	j.end = End{Partial: true, Why: fmt.Sprintf("line %d: %v", j.lines, why)}
	j.merger.cutAll(lastStamps(j.ops))
}
