package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
)

// JSONSchema is the published description of the JSON result (JSON Schema, draft
// 2020-12). Its objects are open, so that a field added under one version breaks
// nobody who validates; the tests close them to see that every field is described.
//
//go:embed schema/result-v2.json
var JSONSchema []byte

// JSON writes r as one indented JSON document.
func JSON(w io.Writer, r Result) error {
	return writeJSON(w, "result", r, "  ")
}

// writeJSON writes v, which is what, as one indented document.
func writeJSON(w io.Writer, what string, v any, indent string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = w.Write(numberLists.ReplaceAllFunc(buf.Bytes(), onOneLine))
	}
	if err != nil {
		return fmt.Errorf("write the JSON %s: %w", what, err)
	}
	return nil
}

// numberLists finds lists of numbers in an indented document, where strings have no
// newlines.
var numberLists = regexp.MustCompile(`\[\n[-+.,0-9eE\s]*\]`)

// onOneLine writes a list of numbers, which may have hundreds, without newlines.
func onOneLine(list []byte) []byte { return bytes.Join(bytes.Fields(list), nil) }
