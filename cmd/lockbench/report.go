package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// reportOptions are the flags of report.
type reportOptions struct {
	html string
	svg  string
	out  outFlags
}

func newReport() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report RESULT.json...",
		Short: "Show saved results again: as a page, pictures or text",
		Long: `report shows results that run, check, explore, matrix, compare or limit wrote with --out
json=FILE. --html writes one HTML page that needs no network. --svg writes SVG pictures of the
durations of acquires and of every counterexample. Without these flags report prints on the
terminal. Several results of runs become one report; - is standard input.

The exit code is 0 if the report was written, whatever its verdicts.`,
		Example: `  lockbench run --out json=result.json
  lockbench report result.json --html report.html
  lockbench report result.json --svg pictures
  lockbench report monday.json tuesday.json --html week.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no result given; hint: name one or more files that lockbench run --out json=FILE wrote")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error { return o.report(cmd, files) },
	}
	cmd.Flags().StringVar(&o.html, "html", "", "write an HTML page to this `file`; - is standard output (default: print on the terminal)")
	cmd.Flags().StringVar(&o.svg, "svg", "", "write SVG pictures into this `directory`, light or dark as the reader prefers")
	o.out.addEvidence(cmd.Flags())
	return cmd
}

func (o *reportOptions) report(cmd *cobra.Command, files []string) error {
	if len(files) == 1 {
		r, err := reportFrom(cmd.InOrStdin(), files[0], results.Read)
		if err != nil {
			return err
		}
		return o.write(cmd.OutOrStdout(), r)
	}
	all := make([]results.Result, 0, len(files))
	for _, file := range files {
		r, err := reportFrom(cmd.InOrStdin(), file, results.ReadAs[*results.Result])
		if err != nil {
			return err
		}
		all = append(all, *r)
	}
	r, err := results.Merge(all...)
	if err != nil {
		return err
	}
	return o.write(cmd.OutOrStdout(), &r)
}

// write writes the report in the requested forms, or else for the terminal.
func (o *reportOptions) write(stdout io.Writer, r results.Report) error {
	if o.svg != "" {
		if err := writePictures(o.svg, r); err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
	}
	page := func(w io.Writer) error { return reports.Write(w, reports.HTML, r, reports.Options{}) }
	switch {
	case o.html == stdoutPath:
		return page(stdout)
	case o.html != "":
		if err := wholefile.Write(o.html, page); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
		return nil
	case o.svg != "":
		return nil
	}
	return reports.Write(stdout, reports.Text, r, o.out.shown.on(stdout))
}

// writePictures writes the pictures of a report into a directory, which it makes.
func writePictures(dir string, r results.Report) error {
	all, err := reports.Pictures(r)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("nothing to draw: nothing was measured, and no guarantee was broken; hint: --html writes a page")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
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

// reportFrom reads the report in a file, or on stdin if the file is -.
func reportFrom[T results.Report](stdin io.Reader, file string, read func(io.Reader) (T, error)) (T, error) {
	if file != stdoutPath {
		return readReport(file, read)
	}
	r, err := read(stdin)
	if err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// readReport reads the report in a file. The error names the file.
func readReport[T results.Report](path string, read func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	var r T
	if err == nil {
		defer f.Close()
		r, err = read(f)
	}
	var unreadable *os.PathError
	if errors.As(err, &unreadable) {
		err = fmt.Errorf("%w; hint: name a file that lockbench run --out json=FILE wrote", unreadable.Err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return r, err
}
