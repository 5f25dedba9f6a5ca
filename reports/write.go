package reports

import (
	"bytes"
	"fmt"
	"io"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/html"
	"github.com/lockbench/lockbench/reports/internal/junit"
	"github.com/lockbench/lockbench/reports/internal/markdown"
	"github.com/lockbench/lockbench/reports/internal/terminal"
	"github.com/lockbench/lockbench/results"
)

// A Form is a form in which a report can be written.
type Form string

// The forms. Every report can be written as Text. [Write] returns an error for any other form that
// a report does not have.
const (
	Text        Form = "text"        // for people, in a terminal
	JSON        Form = "json"        // by [Schema]
	Markdown    Form = "markdown"    // GitHub's
	HTML        Form = "html"        // one page that needs no network
	JUnit       Form = "junit"       // JUnit XML: results and matrices
	Annotations Form = "annotations" // workflow commands of GitHub: results and matrices
	Bench       Form = "bench"       // the Go benchmark format: results and comparisons
	CSV         Form = "csv"         // a row for each run: results
)

// Options describe the terminal or file to which a Text report is written. The zero value is right
// for a file.
type Options struct {
	// Color allows colours. They only repeat the meaning of the text.
	Color bool
	// Width is the width of the terminal in characters; zero or less is unlimited. Tables drop
	// their least important columns to fit.
	Width int
	// Brief leaves out what a reader of a screen can do without, as the evidence of breaches that
	// nobody claimed.
	Brief bool
	// Failed reports whether the command ends in an error, whatever the exit code of the result.
	Failed bool
}

// Write writes r in a form. It returns the first error of w, or an error if r has no such
// form.
func Write(w io.Writer, form Form, r results.Report, opt Options) error {
	d := documentOf(r)
	if d == nil {
		return noForm(form)
	}
	legible.All(d)
	switch form {
	case Text:
		return terminal.Write(w, d, terminal.Options(opt))
	case Markdown:
		return markdown.Write(w, d)
	case HTML:
		return html.Write(w, d)
	case JUnit:
		return junit.Write(w, d)
	case Annotations:
		return junit.Annotations(w, d)
	}
	var data bytes.Buffer
	if err := writeData(&data, form, r); err != nil {
		return err
	}
	_, err := io.WriteString(w, legible.Masked(data.String()))
	return err
}

// writeBlocks writes blocks as text, without a report around them.
func writeBlocks(w io.Writer, blocks ...document.Block) error {
	legible.All(&blocks)
	return terminal.Blocks(w, blocks, terminal.Options{})
}

// writeData writes r in a form for programs.
func writeData(w io.Writer, form Form, r results.Report) error {
	switch r := r.(type) {
	case *results.Result:
		switch {
		case form == Bench:
			return results.WriteBench(w, r)
		case form == CSV && !r.Explored():
			return writeCSV(w, r)
		}
	case *results.Comparison:
		if form == Bench {
			return results.WriteBenchComparison(w, r)
		}
	}
	if form == JSON {
		return results.WriteJSON(w, r)
	}
	return noForm(form)
}

// documentOf returns the document of r, nil if r is not a report of this module.
func documentOf(r results.Report) *document.Document {
	switch r := r.(type) {
	case *results.Result:
		return resultDocument(r)
	case *results.Matrix:
		return matrixDocument(r)
	case *results.Comparison:
		return comparisonDocument(r)
	case *results.MatrixComparison:
		return matrixComparisonDocument(r)
	case *results.LimitSearch:
		return limitSearchDocument(r)
	case *explanationOf:
		return r.drawn
	}
	return nil
}

func noForm(form Form) error {
	return fmt.Errorf("a report of this kind cannot be written as %s", form)
}

// A Picture is a self-contained SVG document. It is light or dark as its reader prefers.
type Picture struct {
	// Name is the name of its file.
	Name string
	SVG  []byte
}

// Pictures returns the drawings of r's page that make sense outside of it, in a README or an issue:
// the latencies of acquires, and every counterexample. Equal reports have equal pictures. All text
// from r is escaped.
func Pictures(r results.Report) ([]Picture, error) {
	drawn, err := html.Pictures(documentOf(r))
	given := make(map[string]int)
	all := make([]Picture, 0, len(drawn))
	for _, p := range drawn {
		all = append(all, Picture{Name: results.Unique(given, results.FileName(p.Name)) + ".svg", SVG: p.SVG})
	}
	return all, err
}

// Explain returns the evidence for one cell of m: the verdict and the claim, then the finding
// of each part, with its counterexample and the commands that reproduce it. Without a cell it
// returns the table of the design, and all broken cells. It returns an error if the matrix
// has no such design.
func Explain(m *results.Matrix, at results.CellName) (results.Report, error) {
	d, err := explain(m, at)
	return &explanationOf{d}, err
}

// An explanationOf is a report made by [Explain].
type explanationOf struct{ drawn *document.Document }

// Kind returns a name that Read does not know: an explanation cannot be read back.
func (*explanationOf) Kind() string { return "explanation" }
