package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/cli/catalog"
)

func newList() *cobra.Command {
	var asJSON, verbose bool
	cmd := &cobra.Command{
		Use:       "list designs|programs|workloads|scenarios|faults|guarantees|conditions|metrics",
		Short:     "List designs, programs, faults, guarantees, conditions or metrics",
		ValidArgs: catalog.Kinds(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("no list named; hint: one of %s", strings.Join(catalog.Kinds(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return catalog.List(cmd.OutOrStdout(), args[0], asJSON, verbose)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "designs: also print their claims and the reasons of exceptions")
	return cmd
}
