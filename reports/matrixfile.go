package reports

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MatrixJSONSchema is the published description of the JSON matrix; it refers to
// JSONSchema.
//
//go:embed schema/matrix-v1.json
var MatrixJSONSchema []byte

// MatrixJSON writes m as one indented JSON document.
func MatrixJSON(w io.Writer, m Matrix) error {
	return writeJSON(w, "matrix", m, " ")
}

// ReadMatrix reads what MatrixJSON wrote. The error says how it is damaged, or what
// else it is.
func ReadMatrix(r io.Reader) (Matrix, error) {
	var m Matrix
	text, err := io.ReadAll(r)
	if err != nil {
		return m, err
	}
	var kind struct {
		Schema string `json:"schema"`
	}
	var syntax *json.SyntaxError
	err = json.Unmarshal(text, &kind)
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) >= len(text):
		return m, fmt.Errorf("it is cut short, after %d bytes; hint: write it again by lockbench matrix --out json=FILE", len(text))
	case err != nil:
		return m, fmt.Errorf("it is no JSON matrix: %w; hint: name a file that lockbench matrix --out json=FILE wrote", err)
	case strings.HasPrefix(kind.Schema, "lockbench/matrix/") && kind.Schema != MatrixSchema:
		return m, fmt.Errorf("it is a matrix of another version, %s, and this lockbench reads %s; hint: write it again with this lockbench", kind.Schema, MatrixSchema)
	case kind.Schema != MatrixSchema:
		return m, fmt.Errorf("it says schema %q, and a matrix %q; hint: name a file that lockbench matrix --out json=FILE wrote", kind.Schema, MatrixSchema)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("it is damaged: %w; hint: write it again by lockbench matrix --out json=FILE", err)
	}
	return m, nil
}
