package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/reports"
)

// outputs are the files that a result is written to beside the terminal report, as
// --out names them: the paths of each kind.
type outputs map[string][]string

// toStdout is the path that stands for standard output. A JSON result there
// takes the place of the terminal report.
const toStdout = "-"

// An outputForm is a form in which a result can be written.
type outputForm struct{ name, path string }

// The kinds of output of each command.
var (
	jsonOutput  = outputForm{"json", "FILE (- is standard output, instead of the table)"}
	hgrmOutput  = outputForm{"hgrm", "DIR (HdrHistogram percentiles, ms)"}
	hlogOutput  = outputForm{"hlog", "FILE (HdrHistogram interval log, a second each)"}
	junitOutput = outputForm{"junit", "FILE (JUnit XML)"}
	benchOutput = outputForm{"bench", "FILE (the Go benchmark format, for benchstat)"}

	markdownOutput = outputForm{"markdown", "FILE"}
	htmlOutput     = outputForm{"html", "FILE (a page of its own)"}
	githubOutput   = outputForm{"github", "FILE (Markdown appended to it, as to the summary of a step)"}

	runOutputs     = []outputForm{jsonOutput, hgrmOutput, hlogOutput, benchOutput, htmlOutput, junitOutput, markdownOutput, githubOutput}
	exploreOutputs = []outputForm{jsonOutput, {"text", "FILE (the terminal report)"}, htmlOutput, junitOutput, markdownOutput, githubOutput}
	matrixOutputs  = []outputForm{jsonOutput, markdownOutput, junitOutput, githubOutput}
)

// outHelp documents --out for a command.
func outHelp(kinds []outputForm) string {
	var each []string
	for _, k := range kinds {
		each = append(each, k.name+"="+k.path)
	}
	last := len(each) - 1
	return "also write `kind=path`: " + strings.Join(each[:last], ", ") + " or " + each[last] + "; may be repeated"
}

// parseOutputs reads the values of --out, each of one of the kinds, and sees that
// what they name can be written, so that no run is lost to a mistyped path.
func parseOutputs(values []string, kinds []outputForm) (outputs, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	o := make(outputs)
	for _, v := range values {
		kind, path, _ := strings.Cut(v, "=")
		if !slices.Contains(names, kind) {
			return o, fmt.Errorf("--out %s: %w", v, suggest.Unknown("kind of output", kind, names))
		}
		if path == "" || path == toStdout && kind != jsonOutput.name {
			return o, fmt.Errorf("--out %s: no path to write to; hint: %s=PATH", v, kind)
		}
		if err := writable(kind, path); err != nil {
			return o, fmt.Errorf("--out %s: %w", v, err)
		}
		o[kind] = append(o[kind], path)
	}
	return o, nil
}

// writable tells why a path cannot be written, and makes it where it is a directory.
func writable(kind, path string) error {
	switch {
	case kind == hgrmOutput.name:
		return os.MkdirAll(path, 0o755)
	case path == toStdout:
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("%w; hint: make the directory first", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", filepath.Dir(path))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory; hint: name a file in it", path)
	}
	return nil
}

// A rendering writes a result in one form.
type rendering func(io.Writer) error

// write writes the result in every form that was asked for.
func (o outputs) write(stdout io.Writer, r reports.Result, runs []reports.Judged) error {
	var errs []error
	for _, dir := range o["hgrm"] {
		errs = append(errs, reports.HGRM(dir, runs))
	}
	forms := resultForms(r)
	forms["bench"] = func(w io.Writer) error { return reports.Bench(w, r) }
	forms[""] = func(w io.Writer) error { return reports.Terminal(w, r, terminalOptions(w)) }
	return errors.Join(append(errs, o.files(stdout, forms))...)
}

// writeExploration is write for explored designs.
func (o outputs) writeExploration(stdout io.Writer, r reports.Result) error {
	forms := resultForms(r)
	forms[""] = func(w io.Writer) error { return reports.TerminalExploration(w, r, terminalOptions(w)) }
	forms["text"] = forms[""]
	return o.files(stdout, forms)
}

// writeMatrix is write for a matrix; what goes to JSON files was written on the way.
func (o outputs) writeMatrix(stdout io.Writer, m reports.Matrix) error {
	rest := maps.Clone(o)
	rest["json"] = slices.DeleteFunc(slices.Clone(o["json"]), func(path string) bool { return path != toStdout })
	markdown := func(w io.Writer) error { return reports.MarkdownMatrix(w, m) }
	return rest.files(stdout, map[string]rendering{
		jsonOutput.name:     func(w io.Writer) error { return reports.MatrixJSON(w, m) },
		junitOutput.name:    func(w io.Writer) error { return reports.JUnitMatrix(w, m) },
		githubOutput.name:   markdown,
		annotations:         func(w io.Writer) error { return reports.AnnotationsMatrix(w, m) },
		markdownOutput.name: markdown,
		"":                  func(w io.Writer) error { return reports.TerminalMatrix(w, m, terminalOptions(w)) },
	})
}

// files writes each form to the files that were asked for, and to standard output what
// was named so, else the form without a name. It goes on after an error, so that one
// full disk does not take the others with it.
func (o outputs) files(stdout io.Writer, forms map[string]rendering) error {
	var errs []error
	table := true
	for _, kind := range slices.Sorted(maps.Keys(forms)) {
		for _, path := range o[kind] {
			if path == toStdout {
				table = false
				errs = append(errs, forms[kind](stdout))
				continue
			}
			write := writeFile
			if kind == githubOutput.name {
				write = appendFile
			}
			errs = append(errs, write(path, forms[kind]))
		}
	}
	log := io.Writer(os.Stderr)
	if table {
		errs = append(errs, forms[""](stdout))
		log = stdout
	}
	return errors.Join(append(errs, inGitHub(log, forms))...)
}

func writeFile(path string, write rendering) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// terminalOptions adapts the report to where it is read: colours and a limited
// width on a terminal only.
func terminalOptions(w io.Writer) reports.TerminalOptions {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return reports.TerminalOptions{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	colour := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return reports.TerminalOptions{Color: colour, Width: width}
}
