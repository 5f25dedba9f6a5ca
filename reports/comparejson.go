package reports

import (
	_ "embed"
	"io"
)

// ComparisonJSONSchema is the published description of the JSON comparison.
//
//go:embed schema/comparison-v2.json
var ComparisonJSONSchema []byte

// ComparisonJSON writes c as one indented JSON document.
func ComparisonJSON(w io.Writer, c Comparison) error {
	return writeJSON(w, "comparison", c, "  ")
}
