// Package output writes results to where --out of a command says, beside what people read on
// standard output: files in many forms, and what GitHub reads where lockbench runs there.
package output

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

// Paths are the files that a result is written to beside the terminal report, as
// --out names them: the paths of each kind.
type Paths map[string][]string

// Stdout is the path that stands for standard output. A JSON result there
// takes the place of the terminal report.
const Stdout = "-"

// A Kind is a form in which a result can be written.
type Kind struct{ name, path string }

var (
	jsonKind  = Kind{"json", "FILE (- is standard output, instead of the table)"}
	hgrmKind  = Kind{"hgrm", "DIR (HdrHistogram percentiles, ms)"}
	hlogKind  = Kind{"hlog", "FILE (HdrHistogram interval log, a second each)"}
	junitKind = Kind{"junit", "FILE (JUnit XML)"}
	benchKind = Kind{"bench", "FILE (the Go benchmark format, for benchstat)"}
	textKind  = Kind{"text", "FILE (the terminal report)"}
	csvKind   = Kind{"csv", "FILE (a row a point, latencies in ns)"}

	markdownKind = Kind{"markdown", "FILE"}
	htmlKind     = Kind{"html", "FILE (a page of its own)"}
	githubKind   = Kind{"github", "FILE (Markdown appended to it, as to the summary of a step)"}

	// OfRuns and the others are the kinds of output of each command.
	OfRuns         = []Kind{jsonKind, hgrmKind, hlogKind, benchKind, htmlKind, junitKind, markdownKind, githubKind}
	OfExplorations = []Kind{jsonKind, textKind, htmlKind, junitKind, markdownKind, githubKind}
	OfMatrices     = []Kind{jsonKind, markdownKind, htmlKind, junitKind, githubKind}
	OfComparisons  = []Kind{jsonKind, markdownKind, htmlKind, githubKind, {benchKind.name, "FILE (the Go benchmark format: benchstat -col side FILE)"}}
	OfSweeps       = []Kind{jsonKind, csvKind, benchKind}
	OfLimits       = []Kind{jsonKind}
)

// Help documents --out for a command.
func Help(kinds []Kind) string {
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

// Parse reads the values of --out, each of one of the kinds, and sees that
// what they name can be written, so that no run is lost to a mistyped path.
func Parse(values []string, kinds []Kind) (Paths, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	o := make(Paths)
	for _, v := range values {
		kind, path, _ := strings.Cut(v, "=")
		if !slices.Contains(names, kind) {
			return o, fmt.Errorf("--out %s: %w", v, suggest.Unknown("kind of output", kind, names))
		}
		if path == "" || path == Stdout && kind != jsonKind.name {
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
	case kind == hgrmKind.name:
		return os.MkdirAll(path, 0o755)
	case path == Stdout:
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
type rendering = func(io.Writer) error

// forms are the ways in which a result can be written, by the kinds of output. The one
// without a name is for standard output, where nothing else goes there.
type forms map[string]rendering

// in is a form of a result.
func in[T any](write func(io.Writer, T) error, result T) rendering {
	return func(w io.Writer) error { return write(w, result) }
}

// onTerminal is the form for people.
func onTerminal[T any](write func(io.Writer, T, reports.TerminalOptions) error, result T) rendering {
	return func(w io.Writer) error { return write(w, result, Terminal(w)) }
}

// resultForms are the forms of a result that do not depend on how it came about.
func resultForms(r reports.Result) forms {
	return forms{
		jsonKind.name:     in(reports.JSON, r),
		junitKind.name:    in(reports.JUnit, r),
		markdownKind.name: in(reports.Markdown, r),
		githubKind.name:   in(reports.Markdown, r),
		htmlKind.name:     in(html.Write, r),
		annotations:       in(reports.Annotations, r),
	}
}

// Runs writes the result of runs in every form that was asked for.
func (o Paths) Runs(stdout io.Writer, r reports.Result, runs []reports.Judged) error {
	var errs []error
	for _, dir := range o[hgrmKind.name] {
		errs = append(errs, reports.HGRM(dir, runs))
	}
	all := resultForms(r)
	all[benchKind.name] = in(reports.Bench, r)
	all[""] = onTerminal(reports.Terminal, r)
	return errors.Join(append(errs, o.write(stdout, all))...)
}

// Exploration is Runs for explored designs.
func (o Paths) Exploration(stdout io.Writer, r reports.Result) error {
	all := resultForms(r)
	all[""] = onTerminal(reports.TerminalExploration, r)
	all[textKind.name] = all[""]
	return o.write(stdout, all)
}

// Matrix is Runs for a matrix; what goes to JSON files was written on the way.
func (o Paths) Matrix(stdout io.Writer, m reports.Matrix) error {
	rest := maps.Clone(o)
	rest[jsonKind.name] = slices.DeleteFunc(slices.Clone(o[jsonKind.name]), func(path string) bool { return path != Stdout })
	return rest.write(stdout, forms{
		jsonKind.name:     in(reports.MatrixJSON, m),
		junitKind.name:    in(reports.JUnitMatrix, m),
		markdownKind.name: in(reports.MarkdownMatrix, m),
		githubKind.name:   in(reports.MarkdownMatrix, m),
		htmlKind.name:     in(html.WriteMatrix, m),
		annotations:       in(reports.AnnotationsMatrix, m),
		"":                onTerminal(reports.TerminalMatrix, m),
	})
}

// Comparison is Runs for a comparison.
func (o Paths) Comparison(stdout io.Writer, c reports.Comparison) error {
	return o.write(stdout, forms{
		jsonKind.name:     in(reports.ComparisonJSON, c),
		markdownKind.name: in(reports.MarkdownComparison, c),
		githubKind.name:   in(reports.MarkdownComparison, c),
		htmlKind.name:     in(html.WriteComparison, c),
		benchKind.name:    in(reports.BenchComparison, c),
		"":                onTerminal(reports.TerminalComparison, c),
	})
}

// Sweep is Runs for a sweep.
func (o Paths) Sweep(stdout io.Writer, r reports.Result) error {
	return o.write(stdout, forms{
		jsonKind.name:  in(reports.JSON, r),
		benchKind.name: in(reports.Bench, r),
		csvKind.name:   in(reports.SweepCSV, r),
		"":             onTerminal(reports.TerminalSweep, r),
	})
}

// Limit is Runs for a search for a limit.
func (o Paths) Limit(stdout io.Writer, l reports.LimitSearch) error {
	return o.write(stdout, forms{jsonKind.name: in(reports.LimitJSON, l), "": onTerminal(reports.TerminalLimit, l)})
}

// write writes each form to the files that were asked for, and to standard output what
// was named so, else the form without a name. It goes on after an error, so that one
// full disk does not take the others with it.
func (o Paths) write(stdout io.Writer, all forms) error {
	var errs []error
	table := true
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		for _, path := range o[kind] {
			if path == Stdout {
				table = false
				errs = append(errs, all[kind](stdout))
				continue
			}
			write := File
			if kind == githubKind.name {
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

// File writes a file.
func File(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Terminal adapts the report to where it is read: colours and a limited
// width on a terminal only.
func Terminal(w io.Writer) reports.TerminalOptions {
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
