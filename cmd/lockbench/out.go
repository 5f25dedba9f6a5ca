package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/reports"
)

// outputs are the files that a result is written to beside the terminal report,
// as --out names them: kind=path.
type outputs struct {
	json []string
	hgrm []string
	text []string
	md   []string
}

// toStdout is the path that stands for standard output. A JSON result there
// takes the place of the terminal report.
const toStdout = "-"

// outHelp documents --out wherever it is offered.
const outHelp = "also write `kind=path`: json=FILE (- is standard output, instead of the table) or hgrm=DIR (HdrHistogram percentiles, ms); may be repeated"

// parseOutputs reads the values of --out, each of one of the kinds, and sees that
// what they name can be written, so that no run is lost to a mistyped path.
func parseOutputs(values []string, kinds ...string) (outputs, error) {
	var o outputs
	for _, v := range values {
		kind, path, _ := strings.Cut(v, "=")
		if !slices.Contains(kinds, kind) {
			return o, fmt.Errorf("--out %s: %w", v, suggest.Unknown("kind of output", kind, kinds))
		}
		if path == "" || path == toStdout && kind != "json" {
			return o, fmt.Errorf("--out %s: no path to write to; hint: %s=PATH", v, kind)
		}
		if err := o.add(kind, path); err != nil {
			return o, fmt.Errorf("--out %s: %w", v, err)
		}
	}
	return o, nil
}

func (o *outputs) add(kind, path string) error {
	switch kind {
	case "hgrm":
		o.hgrm = append(o.hgrm, path)
		return os.MkdirAll(path, 0o755)
	case "text":
		o.text = append(o.text, path)
	case "md":
		o.md = append(o.md, path)
	default:
		o.json = append(o.json, path)
	}
	if path == toStdout {
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

// write writes the result in every form that was asked for. It goes on after an
// error, so that one full disk does not take the others with it.
func (o *outputs) write(stdout io.Writer, r reports.Result, runs []reports.Judged) error {
	var errs []error
	table := true
	for _, path := range o.json {
		if path == toStdout {
			table = false
			errs = append(errs, reports.JSON(stdout, r))
			continue
		}
		errs = append(errs, writeFile(path, func(w io.Writer) error { return reports.JSON(w, r) }))
	}
	for _, dir := range o.hgrm {
		errs = append(errs, reports.HGRM(dir, runs))
	}
	if table {
		errs = append(errs, reports.Terminal(stdout, r, terminalOptions(stdout)))
	}
	return errors.Join(errs...)
}

// writeExploration is write for explored designs.
func (o *outputs) writeExploration(stdout io.Writer, r reports.Result) error {
	var errs []error
	table := true
	for _, path := range o.json {
		if path == toStdout {
			table = false
			errs = append(errs, reports.JSON(stdout, r))
			continue
		}
		errs = append(errs, writeFile(path, func(w io.Writer) error { return reports.JSON(w, r) }))
	}
	for _, path := range o.text {
		errs = append(errs, writeFile(path, func(w io.Writer) error {
			return reports.TerminalExploration(w, r, reports.TerminalOptions{})
		}))
	}
	if table {
		errs = append(errs, reports.TerminalExploration(stdout, r, terminalOptions(stdout)))
	}
	return errors.Join(errs...)
}

// writeMatrix is write for a matrix; what goes to JSON files was written on the way.
func (o *outputs) writeMatrix(stdout io.Writer, m reports.Matrix) error {
	var errs []error
	for _, path := range o.md {
		errs = append(errs, writeFile(path, func(w io.Writer) error { return reports.MarkdownMatrix(w, m) }))
	}
	if slices.Contains(o.json, toStdout) {
		errs = append(errs, reports.MatrixJSON(stdout, m))
	} else {
		errs = append(errs, reports.TerminalMatrix(stdout, m, terminalOptions(stdout)))
	}
	return errors.Join(errs...)
}

func writeFile(path string, write func(io.Writer) error) error {
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
