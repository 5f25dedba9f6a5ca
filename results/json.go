package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// Schema is the version of the JSON that this package writes and reads, for all kinds of reports.
// Within a version fields may be added, but none is removed or changes its meaning.
const Schema = "lockbench/report/v4"

// WriteJSON writes r as one indented JSON document, which begins with its schema and kind. It
// returns an error for a report of a kind that [Read] cannot read, and the first error of w.
func WriteJSON(w io.Writer, r Report) error {
	kind := kindNamed(r.Kind())
	if kind == nil {
		return errors.New("a report of this kind cannot be written as json")
	}
	h, indent := head{Schema, kind.name}, "  "
	var file any
	switch r := r.(type) {
	case *Result:
		file = struct {
			head
			*Result
		}{h, r}
	case *Matrix:
		indent = " " // it has very many lines
		file = struct {
			head
			*Matrix
		}{h, r}
	case *Comparison:
		file = struct {
			head
			*Comparison
		}{h, r}
	case *LimitSearch:
		file = struct {
			head
			*LimitSearch
		}{h, r}
	}
	if err := encode(w, file, indent); err != nil {
		return fmt.Errorf("write the JSON %s: %w", kind.name, err)
	}
	return nil
}

// encode writes v as indented JSON, with each list of numbers on one line.
func encode(w io.Writer, v any, indent string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(numberLists.ReplaceAllFunc(buf.Bytes(), onOneLine))
	return err
}

// numberLists matches lists of numbers in indented JSON, in which strings contain no newlines.
var numberLists = regexp.MustCompile(`\[\n[-+.,0-9eE\s]*\]`)

// onOneLine returns list without white space. Such a list may have hundreds of numbers.
func onOneLine(list []byte) []byte { return bytes.Join(bytes.Fields(list), nil) }
