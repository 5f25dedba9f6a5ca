package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/reports/html"
)

// reportOptions are the flags of report.
type reportOptions struct {
	html string
}

func newReport() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report RESULT.json...",
		Short: "Show saved results again, as a page or in the terminal",
		Long: `report shows results that run, check or explore wrote with --out json=FILE:
as one self-contained HTML page with --html, which asks no network for anything, or else
in the terminal. Several results become one report; - is standard input.

The exit code is 0 when the report was written, whatever it says.`,
		Example: `  lockbench run --out json=result.json
  lockbench report result.json --html report.html
  lockbench report monday.json tuesday.json --html week.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no result given; hint: name one or more files that lockbench run --out json=FILE wrote")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error { return o.report(cmd, files) },
	}
	cmd.Flags().StringVar(&o.html, "html", "", "write an HTML page to this `file`; - is standard output")
	return cmd
}

func (o *reportOptions) report(cmd *cobra.Command, files []string) error {
	results := make([]reports.Result, 0, len(files))
	for _, file := range files {
		r, err := resultFrom(cmd.InOrStdin(), file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		results = append(results, r)
	}
	r, err := reports.Merge(results...)
	if err != nil {
		return err
	}
	switch stdout := cmd.OutOrStdout(); {
	case o.html == toStdout:
		return html.Write(stdout, r)
	case o.html != "":
		if err := writeFile(o.html, func(w io.Writer) error { return html.Write(w, r) }); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
		return nil
	case len(r.Runs) > 0 && r.Runs[0].Exploration != nil:
		return reports.TerminalExploration(stdout, r, terminalOptions(stdout))
	default:
		return reports.Terminal(stdout, r, terminalOptions(stdout))
	}
}

// resultFrom reads the result in a file, or on stdin where the file is -.
func resultFrom(stdin io.Reader, file string) (reports.Result, error) {
	if file == toStdout {
		return reports.ReadResult(stdin)
	}
	return readResult(file)
}
