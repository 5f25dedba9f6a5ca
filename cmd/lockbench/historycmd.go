package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/history"
)

func newHistory() *cobra.Command {
	return &cobra.Command{
		Use:   "history FILE",
		Short: "Print a saved history as JSON Lines, without loss",
		Long: `history prints a saved history as JSON Lines, one operation a line, for jq and other programs.
Nothing is lost: check gives the same verdicts for the lines.`,
		Example: `  lockbench history run.lbh | jq 'select(.outcome == "unknown")'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d files given; hint: lockbench history FILE", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			defer endsAtOnce(cmd)()
			return printHistory(cmd.OutOrStdout(), args[0])
		},
	}
}

func printHistory(w io.Writer, path string) error {
	src, err := history.Open(path)
	if err != nil {
		return err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	err = history.WriteJSONL(buffered, src)
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return fmt.Errorf("print %s: %w", path, err)
	}
	return nil
}
