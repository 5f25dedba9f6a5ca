package reports

import (
	_ "embed"
	"io"
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
	d := fileKind{kind: "matrix", schema: MatrixSchema, command: "lockbench matrix --out json=FILE"}
	err := d.read(r, &m)
	return m, err
}
