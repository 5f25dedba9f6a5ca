package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/cli/matrix"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

var update = flag.Bool("update", false, "rewrite the matrix of docs/matrix.md from docs/matrix.json, and the golden files of TestProjection")

const (
	readme      = "../../README.md"
	matrixPage  = "../../docs/matrix.md"
	savedMatrix = "../../docs/matrix.json"
	matrixBegin = "<!-- matrix -->\n"
	matrixEnd   = "<!-- /matrix -->\n"
)

func openMatrix(t *testing.T) results.Matrix {
	t.Helper()
	m, err := readMatrix("", savedMatrix)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// TestReleasedMatrix checks that docs/matrix.md shows the saved matrix.
func TestReleasedMatrix(t *testing.T) {
	var want bytes.Buffer
	m := openMatrix(t)
	if err := reports.Write(&want, reports.Markdown, &m, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(matrixPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), matrixBegin)
	got, after, ended := strings.Cut(rest, matrixEnd)
	if !begun || !ended {
		t.Fatalf("docs/matrix.md has no matrix between %q and %q", matrixBegin, matrixEnd)
	}
	if *update {
		if err := os.WriteFile(matrixPage, []byte(before+matrixBegin+want.String()+matrixEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(got, want.String()); diff != "" {
		t.Errorf("the matrix of docs/matrix.md is not that of docs/matrix.json; -update writes it (-got +want):\n%s", diff)
	}
}

// TestSavedMatrixIsOfThisCatalogue checks that the saved matrix has all designs of the
// catalogue, in their present version, in every part.
func TestSavedMatrixIsOfThisCatalogue(t *testing.T) {
	m := openMatrix(t)
	var got []results.MatrixRow
	for _, r := range m.Rows {
		got = append(got, results.MatrixRow{Design: r.Design, Source: r.Source, Library: r.Library, Claims: r.Claims, Without: r.Without})
	}
	o := matrixOptions{budget: time.Hour, drivers: []string{matrix.Live, matrix.Explore}, quiet: true}
	now := o.session(newMatrix(), impls.All()).Matrix
	want := now.Rows
	for i := range want {
		want[i].Version = "" // if the code has changed since, less is known, but the matrix stays true
	}
	terms := cmp.Transformer("terms", func(c lockbench.Claims) []string { return c.Terms() })
	if diff := cmp.Diff(got, want, terms); diff != "" {
		t.Errorf("docs/matrix.json is stale; docs/matrix.md says how it is made (-got +want):\n%s", diff)
	}
	if len(m.NotRun) > 0 || len(m.Unproven()) > 0 || len(m.Settings.Parts) != len(now.Settings.Parts) {
		t.Errorf("not run %v, not proven %v, parts %v; want all parts run and proven", m.NotRun, m.Unproven(), m.Settings.Parts)
	}
}
