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

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/internal/lib/wrap"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// outPaths are the paths that --out names, by kind: a result is written there, beside the report on
// the terminal.
type outPaths struct {
	files map[string][]string
	shown allEvidence
}

// stdoutPath is the path of standard output. A report there replaces the table.
const stdoutPath = "-"

// An outKind is a form in which a result can be written.
type outKind struct {
	name string
	path string       // the text after the name in help; DIR for kinds of several files
	form reports.Form // empty for kinds of several files, and for logs
}

// several reports whether the kind is a directory of files.
func (k outKind) several() bool { return strings.HasPrefix(k.path, "DIR") }

// printable reports whether the kind can replace the table on standard output.
func (k outKind) printable() bool { return k.form != "" && k.name != githubKind.name }

var (
	jsonKind  = outKind{"json", "FILE", reports.JSON}
	hgrmKind  = outKind{"hgrm", "DIR (HdrHistogram percentiles, ms)", ""}
	hlogKind  = outKind{"hlog", "FILE (HdrHistogram interval log, 1s each)", ""}
	junitKind = outKind{"junit", "FILE (JUnit XML)", reports.JUnit}
	benchKind = outKind{"bench", "FILE (the Go benchmark format, for benchstat)", reports.Bench}
	svgKind   = outKind{"svg", "DIR (a picture of latencies, and one of each broken cell)", ""}
	textKind  = outKind{"text", "FILE (the terminal report)", reports.Text}
	csvKind   = outKind{"csv", "FILE (one row per run, latencies in ns)", reports.CSV}

	markdownKind = outKind{"markdown", "FILE", reports.Markdown}
	htmlKind     = outKind{"html", "FILE (one self-contained page)", reports.HTML}
	githubKind   = outKind{"github", "FILE (Markdown, appended, such as to the summary of a step)", reports.Markdown}

	// The kinds of output of each command.
	runOutputs         = []outKind{jsonKind, hgrmKind, hlogKind, benchKind, csvKind, htmlKind, svgKind, junitKind, markdownKind, githubKind}
	explorationOutputs = []outKind{jsonKind, textKind, htmlKind, svgKind, junitKind, markdownKind, githubKind}
	matrixOutputs      = []outKind{jsonKind, markdownKind, htmlKind, svgKind, junitKind, githubKind}
	savedOutputs       = []outKind{jsonKind, textKind, htmlKind, svgKind, junitKind, markdownKind, githubKind, benchKind, csvKind}
	comparisonOutputs  = []outKind{jsonKind, markdownKind, htmlKind, githubKind, {benchKind.name, "FILE (the Go benchmark format: benchstat -col side FILE)", reports.Bench}}
	limitOutputs       = []outKind{jsonKind}
)

// json returns the files of JSON results.
func (o outPaths) json() []string { return o.files[jsonKind.name] }

// hlog returns the files that latencies are logged to.
func (o outPaths) hlog() []string { return o.files[hlogKind.name] }

// outFlags are the flags of output: --out, and --evidence for commands with evidence.
type outFlags struct {
	out   []string
	shown allEvidence
}

// addWithEvidence adds --out and --evidence.
func (o *outFlags) addWithEvidence(f *pflag.FlagSet, kinds []outKind) {
	o.add(f, kinds)
	o.addEvidence(f)
}

// add adds --out to the flags of a command with these kinds of output.
func (o *outFlags) add(f *pflag.FlagSet, kinds []outKind) {
	f.StringArrayVar(&o.out, "out", nil, outHelp(kinds))
}

// addEvidence adds --evidence.
func (o *outFlags) addEvidence(f *pflag.FlagSet) {
	f.Var(newTextFlag(&o.shown, "claimed|all"), "evidence", "evidence to print: of broken claims, or of all violations, with all tables; files of --out have all")
}

// replaced reports whether another form of the report replaces the table.
func (o *outFlags) replaced() bool {
	return slices.ContainsFunc(o.out, func(v string) bool { return strings.HasSuffix(v, "="+stdoutPath) })
}

// allEvidence is the value of --evidence: whether a report shows all evidence and all tables, or only
// the evidence of broken claims.
type allEvidence bool

// String returns the value in the form of the flag.
func (e *allEvidence) String() string {
	if *e {
		return "all"
	}
	return "claimed"
}

// on returns the options for a report on w with this evidence.
func (e allEvidence) on(w io.Writer) reports.Options {
	opt := terminalOptions(w)
	opt.Brief = !bool(e)
	return opt
}

// UnmarshalText reads the value; the error suggests near ones.
func (e *allEvidence) UnmarshalText(text []byte) error {
	values := []string{"claimed", "all"}
	if !slices.Contains(values, string(text)) {
		return suggest.Unknown("evidence", string(text), values)
	}
	*e = string(text) == "all"
	return nil
}

// outHelp returns the help of --out for a command with these kinds of output.
func outHelp(kinds []outKind) string {
	var each []string
	for _, k := range kinds {
		each = append(each, k.name+"="+k.path)
	}
	list := each[0]
	if last := len(each) - 1; last > 0 {
		list = strings.Join(each[:last], ", ") + " or " + each[last]
	}
	return "also write `kind=path`, repeated: " + list + "; - for FILE replaces the table on standard output"
}

// parse reads the values of --out, each of one of the kinds. The error says why a value is wrong,
// or why its path cannot be written, so that no run is lost to a mistyped path.
func (o *outFlags) parse(kinds []outKind) (outPaths, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	paths := outPaths{files: make(map[string][]string), shown: o.shown}
	printed := false
	for _, v := range o.out {
		name, path, _ := strings.Cut(v, "=")
		i := slices.Index(names, name)
		if i < 0 {
			return paths, fmt.Errorf("--out %s: %w", v, suggest.Unknown("kind of output", name, names))
		}
		kind, print := kinds[i], path == stdoutPath
		switch {
		case path == "" || print && !kind.printable():
			return paths, fmt.Errorf("--out %s: no path to write to; hint: %s=PATH", v, name)
		case print && printed:
			return paths, fmt.Errorf("--out %s: a second report for standard output; hint: %s=PATH", v, name)
		}
		printed = printed || print
		if err := kind.writable(path); err != nil {
			return paths, fmt.Errorf("--out %s: %w", v, err)
		}
		paths.files[name] = append(paths.files[name], path)
	}
	return paths, nil
}

// writable returns an error if a path cannot be written, and makes it if it is a directory.
func (k outKind) writable(path string) error {
	switch {
	case k.several():
		return os.MkdirAll(path, 0o755)
	case path == stdoutPath:
		return nil
	}
	return wholefile.Probe(path)
}

// writeRuns writes the result of runs in every requested form, like write.
func (o outPaths) writeRuns(stdout io.Writer, r *results.Result, failed error) error {
	errs := []error{failed}
	for _, dir := range o.files[hgrmKind.name] {
		errs = append(errs, results.HGRM(dir, r))
	}
	return o.write(stdout, r, runOutputs, errors.Join(errs...))
}

// writeMatrix is write for a matrix; JSON files were written on the way.
func (o outPaths) writeMatrix(stdout io.Writer, m *results.Matrix, failed error) error {
	rest := maps.Clone(o.files)
	rest[jsonKind.name] = slices.DeleteFunc(slices.Clone(rest[jsonKind.name]), func(path string) bool { return path != stdoutPath })
	return outPaths{rest, o.shown}.write(stdout, m, matrixOutputs, failed)
}

// write writes r in each requested kind to its files, and for GitHub Actions. If no kind is for standard
// output, it writes the report for people there. It goes on after an error, so that one full disk does
// not affect the other files, and returns all errors. failed is an earlier error, nil for none: the
// measurements before it are written all the same.
func (o outPaths) write(stdout io.Writer, r results.Report, kinds []outKind, failed error) error {
	table, failed := o.writeForms(stdout, r, kinds, failed)
	log := io.Writer(os.Stderr)
	if table {
		log = stdout
	}
	return errors.Join(failed, inGitHub(log, r, kinds))
}

// writeForms is write without GitHub Actions. It reports whether it wrote the report for people.
func (o outPaths) writeForms(stdout io.Writer, r results.Report, kinds []outKind, failed error) (table bool, _ error) {
	errs := []error{failed}
	table = true
	for _, kind := range kinds {
		for _, path := range o.files[kind.name] {
			write := func(w io.Writer) error { return reports.Write(w, kind.form, r, reports.Options{}) }
			switch {
			case kind.name == svgKind.name:
				errs = append(errs, writePictures(path, r))
			case kind.form == "":
			case path == stdoutPath:
				table = false
				errs = append(errs, write(stdout))
			case kind.name == githubKind.name:
				errs = append(errs, appendFile(path, kind.form, r))
			default:
				errs = append(errs, wholefile.Write(path, write))
			}
		}
	}
	if table {
		opt := o.shown.on(stdout)
		opt.Failed = errors.Join(errs...) != nil
		errs = append(errs, reports.Write(stdout, reports.Text, r, opt))
	}
	return table, errors.Join(errs...)
}

// writePictures writes the pictures of a report into a directory.
func writePictures(dir string, r results.Report) error {
	all, err := reports.Pictures(r)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("--out svg=%s: nothing to draw: nothing was measured, and no guarantee was broken; hint: --out html=FILE writes a page", dir)
	}
	for _, p := range all {
		draw := func(w io.Writer) error {
			_, err := w.Write(p.SVG)
			return err
		}
		if err := wholefile.Write(filepath.Join(dir, p.Name), draw); err != nil {
			return err
		}
	}
	return nil
}

// terminalOptions returns the options for a report on w: colours and a limited width only if w is a
// terminal.
func terminalOptions(w io.Writer) reports.Options {
	width, is := wrap.Terminal(w)
	if !is {
		return reports.Options{}
	}
	colour := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return reports.Options{Color: colour, Width: width}
}
