// Package output writes results to the files that --out of a command names, beside the report on
// standard output: in many forms, and in those that GitHub reads if lockbench runs there.
package output

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/internal/textflag"
	"github.com/lockbench/lockbench/internal/wholefile"
	"github.com/lockbench/lockbench/reports"
)

// Paths are the files that a result is written to beside the terminal report, as --out names them:
// the paths by kind.
type Paths struct {
	files map[string][]string
	shown evidence
}

// Stdout is the path of standard output. A JSON result there replaces the terminal report.
const Stdout = "-"

// A Kind is a form in which a result can be written: its name, the text that follows it in help,
// and the form of reports, empty for files of runs.
type Kind struct {
	name, path string
	form       reports.Form
}

var (
	jsonKind  = Kind{"json", "FILE (- replaces the table on standard output)", reports.JSON}
	hgrmKind  = Kind{"hgrm", "DIR (HdrHistogram percentiles, ms)", ""}
	hlogKind  = Kind{"hlog", "FILE (HdrHistogram interval log, 1s each)", ""}
	junitKind = Kind{"junit", "FILE (JUnit XML)", reports.JUnit}
	benchKind = Kind{"bench", "FILE (the Go benchmark format, for benchstat)", reports.Bench}
	textKind  = Kind{"text", "FILE (the terminal report)", reports.Text}
	csvKind   = Kind{"csv", "FILE (one row per run, latencies in ns)", reports.CSV}

	markdownKind = Kind{"markdown", "FILE", reports.Markdown}
	htmlKind     = Kind{"html", "FILE (a page of its own)", reports.HTML}
	githubKind   = Kind{"github", "FILE (Markdown is appended, as to the summary of a step)", reports.Markdown}

	// OfRuns and the others are the kinds of output of each command.
	OfRuns         = []Kind{jsonKind, hgrmKind, hlogKind, benchKind, csvKind, htmlKind, junitKind, markdownKind, githubKind}
	OfExplorations = []Kind{jsonKind, textKind, htmlKind, junitKind, markdownKind, githubKind}
	OfMatrices     = []Kind{jsonKind, markdownKind, htmlKind, junitKind, githubKind}
	OfComparisons  = []Kind{jsonKind, markdownKind, htmlKind, githubKind, {benchKind.name, "FILE (the Go benchmark format: benchstat -col side FILE)", reports.Bench}}
	OfLimits       = []Kind{jsonKind}
)

// JSON returns the files of JSON results.
func (o Paths) JSON() []string { return o.files[jsonKind.name] }

// HLog returns the files that latencies are logged to.
func (o Paths) HLog() []string { return o.files[hlogKind.name] }

// Flags are the flags of output: --out, and --evidence for commands with evidence.
type Flags struct {
	out   []string
	shown evidence
}

// AddWithEvidence adds --out and --evidence.
func (o *Flags) AddWithEvidence(f *pflag.FlagSet, kinds []Kind) {
	o.Add(f, kinds)
	o.AddEvidence(f)
}

// Add adds --out to the flags of a command with these kinds of output.
func (o *Flags) Add(f *pflag.FlagSet, kinds []Kind) {
	f.StringArrayVar(&o.out, "out", nil, help(kinds))
}

// AddEvidence adds --evidence.
func (o *Flags) AddEvidence(f *pflag.FlagSet) {
	f.Var(textflag.New(&o.shown, "claimed|all"), "evidence", "what a terminal shows the evidence of: broken claims, or all that broke; through a pipe it is all")
}

// Parse reads the values of --out, each of one of the kinds. The error says why a value is wrong,
// or why its path cannot be written, so that no run is lost to a mistyped path.
func (o *Flags) Parse(kinds []Kind) (Paths, error) {
	paths, err := parse(o.out, kinds)
	paths.shown = o.shown
	return paths, err
}

// Replaced reports whether a JSON result replaces the terminal report.
func (o *Flags) Replaced() bool { return slices.Contains(o.out, jsonKind.name+"="+Stdout) }

// Terminal returns the options for a report on w, with the evidence that was asked for.
func (o *Flags) Terminal(w io.Writer) reports.Options {
	opt := Terminal(w)
	opt.Whole = bool(o.shown)
	return opt
}

// evidence is the value of --evidence: whether the report shows all of it.
type evidence bool

// String returns the value in the form of the flag.
func (e *evidence) String() string {
	if *e {
		return "all"
	}
	return "claimed"
}

// UnmarshalText reads the value; the error suggests near ones.
func (e *evidence) UnmarshalText(text []byte) error {
	values := []string{"claimed", "all"}
	if !slices.Contains(values, string(text)) {
		return suggest.Unknown("evidence", string(text), values)
	}
	*e = string(text) == "all"
	return nil
}

// help documents --out for a command.
func help(kinds []Kind) string {
	var each []string
	for _, k := range kinds {
		each = append(each, k.name+"="+k.path)
	}
	list := each[0]
	if last := len(each) - 1; last > 0 {
		list = strings.Join(each[:last], ", ") + " or " + each[last]
	}
	return "also write `kind=path`, repeated: " + list
}

// parse reads the values of --out.
func parse(values []string, kinds []Kind) (Paths, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	o := Paths{files: make(map[string][]string)}
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
		o.files[kind] = append(o.files[kind], path)
	}
	return o, nil
}

// writable returns an error if a path cannot be written, and makes it if it is a directory.
func writable(kind, path string) error {
	switch {
	case kind == hgrmKind.name:
		return os.MkdirAll(path, 0o755)
	case path == Stdout:
		return nil
	}
	return wholefile.Probe(path)
}

// Runs writes the result of runs in every requested form, like Write.
func (o Paths) Runs(stdout io.Writer, r *results.Result, failed error) error {
	errs := []error{failed}
	for _, dir := range o.files[hgrmKind.name] {
		errs = append(errs, results.HGRM(dir, r))
	}
	return o.Write(stdout, r, OfRuns, errors.Join(errs...))
}

// Matrix is Write for a matrix; JSON files were written on the way.
func (o Paths) Matrix(stdout io.Writer, m *results.Matrix, failed error) error {
	rest := maps.Clone(o.files)
	rest[jsonKind.name] = slices.DeleteFunc(slices.Clone(rest[jsonKind.name]), func(path string) bool { return path != Stdout })
	return Paths{rest, o.shown}.Write(stdout, m, OfMatrices, failed)
}

// Write writes r in each requested kind to its files. It writes to standard output the kinds that
// name it, or else the report for people. It goes on after an error, so that one full disk does not
// affect the other files, and returns all errors. Failed is an earlier error, nil for none: the
// measurements before it are written all the same.
func (o Paths) Write(stdout io.Writer, r results.Report, kinds []Kind, failed error) error {
	errs := []error{failed}
	table := true
	for _, kind := range kinds {
		for _, path := range o.files[kind.name] {
			switch {
			case kind.form == "":
			case path == Stdout:
				table = false
				errs = append(errs, reports.Write(stdout, kind.form, r, reports.Options{}))
			case kind.name == githubKind.name:
				errs = append(errs, appendFile(path, kind.form, r))
			default:
				errs = append(errs, wholefile.Write(path, func(w io.Writer) error { return reports.Write(w, kind.form, r, reports.Options{}) }))
			}
		}
	}
	log := io.Writer(os.Stderr)
	if table {
		opt := Terminal(stdout)
		opt.Whole = bool(o.shown)
		opt.Failed = errors.Join(errs...) != nil
		errs = append(errs, reports.Write(stdout, reports.Text, r, opt))
		log = stdout
	}
	return errors.Join(append(errs, inGitHub(log, r, kinds))...)
}

// Terminal returns the options for a report on w: colours and a limited width only if w is a
// terminal.
func Terminal(w io.Writer) reports.Options {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return reports.Options{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	colour := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return reports.Options{Color: colour, Width: width}
}
