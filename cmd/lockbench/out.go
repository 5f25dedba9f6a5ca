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
	"github.com/lockbench/lockbench/reports/html"
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
	textOutput  = outputForm{"text", "FILE (the terminal report)"}
	csvOutput   = outputForm{"csv", "FILE (a row a point, latencies in ns)"}

	markdownOutput = outputForm{"markdown", "FILE"}
	htmlOutput     = outputForm{"html", "FILE (a page of its own)"}
	githubOutput   = outputForm{"github", "FILE (Markdown appended to it, as to the summary of a step)"}

	runOutputs     = []outputForm{jsonOutput, hgrmOutput, hlogOutput, benchOutput, htmlOutput, junitOutput, markdownOutput, githubOutput}
	exploreOutputs = []outputForm{jsonOutput, textOutput, htmlOutput, junitOutput, markdownOutput, githubOutput}
	matrixOutputs  = []outputForm{jsonOutput, markdownOutput, htmlOutput, junitOutput, githubOutput}
	compareOutputs = []outputForm{jsonOutput, markdownOutput, htmlOutput, githubOutput, {benchOutput.name, "FILE (the Go benchmark format: benchstat -col side FILE)"}}
	sweepOutputs   = []outputForm{jsonOutput, csvOutput, benchOutput}
	limitOutputs   = []outputForm{jsonOutput}
)

// outHelp documents --out for a command.
func outHelp(kinds []outputForm) string {
	var each []string
	for _, k := range kinds {
		each = append(each, k.name+"="+k.path)
	}
	list := each[0]
	if last := len(each) - 1; last > 0 {
		list = strings.Join(each[:last], ", ") + " or " + each[last]
	}
	return "also write `kind=path`: " + list + "; may be repeated"
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

// forms are the ways in which a result can be written, by the kinds of output. The one
// without a name is for standard output, where nothing else goes there.
type forms map[string]rendering

// in is a form of a result.
func in[T any](write func(io.Writer, T) error, result T) rendering {
	return func(w io.Writer) error { return write(w, result) }
}

// onTerminal is the form for people.
func onTerminal[T any](write func(io.Writer, T, reports.TerminalOptions) error, result T) rendering {
	return func(w io.Writer) error { return write(w, result, terminalOptions(w)) }
}

// resultForms are the forms of a result that do not depend on how it came about.
func resultForms(r reports.Result) forms {
	return forms{
		jsonOutput.name:     in(reports.JSON, r),
		junitOutput.name:    in(reports.JUnit, r),
		markdownOutput.name: in(reports.Markdown, r),
		githubOutput.name:   in(reports.Markdown, r),
		htmlOutput.name:     in(html.Write, r),
		annotations:         in(reports.Annotations, r),
	}
}

// writeRuns writes the result of runs in every form that was asked for.
func (o outputs) writeRuns(stdout io.Writer, r reports.Result, runs []reports.Judged) error {
	var errs []error
	for _, dir := range o[hgrmOutput.name] {
		errs = append(errs, reports.HGRM(dir, runs))
	}
	all := resultForms(r)
	all[benchOutput.name] = in(reports.Bench, r)
	all[""] = onTerminal(reports.Terminal, r)
	return errors.Join(append(errs, o.write(stdout, all))...)
}

// writeExploration is writeRuns for explored designs.
func (o outputs) writeExploration(stdout io.Writer, r reports.Result) error {
	all := resultForms(r)
	all[""] = onTerminal(reports.TerminalExploration, r)
	all[textOutput.name] = all[""]
	return o.write(stdout, all)
}

// writeMatrix is writeRuns for a matrix; what goes to JSON files was written on the way.
func (o outputs) writeMatrix(stdout io.Writer, m reports.Matrix) error {
	rest := maps.Clone(o)
	rest[jsonOutput.name] = slices.DeleteFunc(slices.Clone(o[jsonOutput.name]), func(path string) bool { return path != toStdout })
	return rest.write(stdout, forms{
		jsonOutput.name:     in(reports.MatrixJSON, m),
		junitOutput.name:    in(reports.JUnitMatrix, m),
		markdownOutput.name: in(reports.MarkdownMatrix, m),
		githubOutput.name:   in(reports.MarkdownMatrix, m),
		htmlOutput.name:     in(html.WriteMatrix, m),
		annotations:         in(reports.AnnotationsMatrix, m),
		"":                  onTerminal(reports.TerminalMatrix, m),
	})
}

// write writes each form to the files that were asked for, and to standard output what
// was named so, else the form without a name. It goes on after an error, so that one
// full disk does not take the others with it.
func (o outputs) write(stdout io.Writer, all forms) error {
	var errs []error
	table := true
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		for _, path := range o[kind] {
			if path == toStdout {
				table = false
				errs = append(errs, all[kind](stdout))
				continue
			}
			write := writeFile
			if kind == githubOutput.name {
				write = appendFile
			}
			errs = append(errs, write(path, all[kind]))
		}
	}
	log := io.Writer(os.Stderr)
	if table {
		errs = append(errs, all[""](stdout))
		log = stdout
	}
	return errors.Join(append(errs, inGitHub(log, all))...)
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
