package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	matrixOptions
	from string
	save string
}

func newExplain() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain DESIGN [CELL]",
		Short: "Show the evidence for one cell of the matrix",
		Long: `explain shows the evidence for one cell of one design: a guarantee under conditions, such as
exclusion@failover. It shows whether the design claims the cell, the findings of live runs and
of exploration, the operations or the schedule of a violation, the coverage, and the commands
that repeat it. Without a cell it shows the table of the design and all violations.

With --from the evidence comes from a saved matrix. Without it explain makes a matrix of this
design alone.`,
		Example: `  lockbench explain lua-token/expire owner-release --budget 30s
  lockbench explain redislock/obtain exclusion@failover --from matrix.json
  lockbench explain setnx-getset/naive recovery@crash --from matrix.json --save naive.replay`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errors.New("a design and at most one cell are needed; hint: lockbench list designs, lockbench list guarantees")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.explain(cmd, args[0], args[1:])
		},
	}
	o.sharedFlags(cmd.Flags())
	f := cmd.Flags()
	f.Lookup("budget").DefValue = "40s"
	o.budget = 40 * time.Second
	f.StringVar(&o.from, "from", "", "read the matrix from this JSON `file` (default: run one now)")
	f.StringVar(&o.save, "save", "", "save the schedule of the cell in this `file`, for lockbench explore --replay")
	return cmd
}

func (o *explainOptions) explain(cmd *cobra.Command, name string, cell []string) error {
	at := results.CellName{Design: name, File: o.from}
	for _, text := range cell {
		var err error
		if at.Cell, err = lockbench.ParseCell(text); err != nil {
			return err
		}
	}
	if o.save != "" && len(cell) == 0 {
		return errors.New("--save: no cell is named whose schedule could be saved; hint: name a cell after the design")
	}
	m, err := o.source(cmd, name)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	explained, err := reports.Explain(m, at)
	if err != nil {
		return err
	}
	if err := reports.Write(w, reports.Text, explained, terminalOptions(w)); err != nil || o.save == "" {
		return err
	}
	replay, err := results.CellReplay(*m, at)
	if err != nil {
		return err
	}
	return wholefile.Write(o.save, func(w io.Writer) error {
		_, err := io.WriteString(w, replay)
		return err
	})
}

// source returns the saved matrix, or a matrix of the design alone.
func (o *explainOptions) source(cmd *cobra.Command, name string) (*results.Matrix, error) {
	if o.from != "" {
		if err := refuseUnused("from", cmd.Flags(), "from", "save", "quiet"); err != nil {
			return nil, err
		}
		return readMatrix("--from", o.from)
	}
	if err := o.validate(cmd.Flags()); err != nil {
		return nil, err
	}
	designs, err := impls.Match(name)
	if err != nil {
		return nil, err
	}
	s := o.session(cmd, designs)
	if err := s.Run(cmd.Context()); err != nil {
		return nil, err
	}
	return &s.Matrix, nil
}
