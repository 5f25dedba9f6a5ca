package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// newMan returns the command that writes manual pages, for packagers of lockbench; users have -h.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages, one for each command, into a directory",
		Long: `man writes a manual page for each command into a directory and creates the directory if needed.
The date of the pages is SOURCE_DATE_EPOCH, if that is set.`,
		Example: `  lockbench man ~/.local/share/man/man1
  man lockbench-run`,
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d directories given; hint: one, such as ~/.local/share/man/man1", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeManual(cmd.Root(), args[0])
		},
	}
}

func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w; hint: a directory that can be made or written to", err)
	}
	literal(root)
	root.DisableAutoGenTag = true // pages of one version are always the same
	header := doc.GenManHeader{Title: "LOCKBENCH", Section: "1", Source: "lockbench " + version(), Manual: "lockbench"}
	return doc.GenManTree(root, &header, dir)
}

// markup escapes the characters that have a meaning in Markdown, the source of the pages.
var markup = strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "[", `\[`)

// literal escapes the texts of a command, and of the commands below it.
func literal(cmd *cobra.Command) {
	cmd.Short, cmd.Long = escaped(cmd.Short), escaped(cmd.Long)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = escaped(f.Usage) })
	for _, c := range cmd.Commands() {
		literal(c)
	}
}

// escaped escapes text outside of backquotes; Markdown leaves the text within them alone.
func escaped(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = markup.Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
