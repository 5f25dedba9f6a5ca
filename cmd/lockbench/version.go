package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/lib/buildinfo"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of lockbench and of the Go that built it",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine returns the version of lockbench, of the Go that built it, and the system.
func versionLine() string {
	return fmt.Sprintf("lockbench %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version of lockbench, and the commit if the build knows
// it.
func version() string { return strings.TrimSpace(buildinfo.Version() + " " + buildinfo.Commit()) }
