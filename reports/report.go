package reports

import (
	_ "embed"
	"io"

	"github.com/lockbench/lockbench/results"
)

// A Report is any value that [Write] writes: a result of package runner, or a report that
// [Read] or [Explain] returns. Its Kind is its name in JSON: result, matrix, comparison or
// limit. Reports of other kinds cannot be read back.
type Report = results.Report

// Schema is the version of the JSON that this package writes and reads, for all kinds of reports.
// Within a version fields may be added, but none is removed or changes its meaning.
const Schema = results.Schema

// JSONSchema is the published description of the JSON (JSON Schema, draft 2020-12), with a
// definition for each kind of report. It permits additional fields, so that a field added within a
// version breaks no validation.
//
//go:embed schema/report-v4.json
var JSONSchema []byte

// Read reads a report of any kind that [Write] wrote as JSON. The error says how the input is
// damaged, or names the kind of file that it is. Read may be called by several goroutines at once.
func Read(r io.Reader) (Report, error) { return results.Read(r) }
