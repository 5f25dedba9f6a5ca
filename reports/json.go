package reports

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
)

// JSONSchema is the published description of the JSON result (JSON Schema, draft
// 2020-12). Its objects are open, so that a field added under one version breaks
// nobody who validates; the tests close them to see that every field is described.
//
//go:embed schema/result-v1.json
var JSONSchema []byte

// JSON writes r as one indented JSON document.
func JSON(w io.Writer, r Result) error {
	return writeJSON(w, "result", r, "  ")
}

// writeJSON writes v, which is what, as one indented document.
func writeJSON(w io.Writer, what string, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the JSON %s: %w", what, err)
	}
	return nil
}
