package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// Schema is the version of the JSON that this package writes and reads, for all kinds of
// reports. Fields may be added under one version; none changes its meaning or goes away.
const Schema = "lockbench/report/v4"

// WriteJSON writes r as one indented document, which begins with its schema and kind.
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
		indent = " " // of very many lines
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

// encode writes v as an indented document, lists of numbers on one line.
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

// numberLists finds lists of numbers in an indented document, where strings have no
// newlines.
var numberLists = regexp.MustCompile(`\[\n[-+.,0-9eE\s]*\]`)

// onOneLine writes a list of numbers, which may have hundreds, without newlines.
func onOneLine(list []byte) []byte { return bytes.Join(bytes.Fields(list), nil) }
