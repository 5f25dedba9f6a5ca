package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/results"
)

func newReport() *cobra.Command {
	var o outFlags
	cmd := &cobra.Command{
		Use:   "report RESULT.json...",
		Short: "Show saved results again: as text, a page, pictures or data",
		Long: `report shows results that run, check, explore, matrix, compare or limit wrote with --out
json=FILE: on the terminal, and in every form of --out. Several results of runs become one report;
- is standard input.

The exit code is 0 if the report was written, whatever its verdicts.`,
		Example: `  lockbench run --out json=result.json
  lockbench report result.json --out html=report.html
  lockbench report result.json --out svg=pictures --out markdown=-
  lockbench report monday.json tuesday.json --out html=week.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no result given; hint: name one or more files that lockbench run --out json=FILE wrote")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error { return report(cmd, files, &o) },
	}
	o.addWithEvidence(cmd.Flags(), savedOutputs)
	return cmd
}

func report(cmd *cobra.Command, files []string, o *outFlags) error {
	out, err := o.parse(savedOutputs)
	if err != nil {
		return err
	}
	r, err := allReports(cmd.InOrStdin(), files)
	if err != nil {
		return err
	}
	_, err = out.writeForms(cmd.OutOrStdout(), r, savedOutputs, nil)
	return err
}

// allReports reads a report, or merges several results of runs.
func allReports(stdin io.Reader, files []string) (results.Report, error) {
	if len(files) == 1 {
		return reportFrom(stdin, files[0], results.Read)
	}
	all := make([]results.Result, 0, len(files))
	for _, file := range files {
		r, err := reportFrom(stdin, file, results.ReadAs[*results.Result])
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	r, err := results.Merge(all...)
	return &r, err
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
