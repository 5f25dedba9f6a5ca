package reports

import (
	_ "embed"
	"io"

	"github.com/lockbench/lockbench/internal/results"
)

// A Report is what [Write] writes: a result of package runner, what [Read] returns, or what
// [Explain] make of these. Its Kind is what JSON names it by: result, matrix,
// comparison or limit; anything else for what is not read back.
type Report = results.Report

// Schema is the version of the JSON that this package writes and reads, for all kinds of
// reports. Fields may be added under one version; none changes its meaning or goes away.
const Schema = results.Schema

// JSONSchema is the published description of the JSON (JSON Schema, draft 2020-12), which has
// a definition for each kind. Its objects are open, so that a field added under one version
// breaks nobody who validates; the tests close them to see that every field is described.
//
//go:embed schema/report-v3.json
var JSONSchema []byte

// Read reads a report of any kind that [Write] wrote as JSON. The error says how it is
// damaged, or what else it is.
func Read(r io.Reader) (Report, error) { return results.Read(r) }
