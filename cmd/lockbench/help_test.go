package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpIsReadable asserts, of each command, that no line of its help is longer than
// helpWidth and that each of its flags is in a group.
func TestHelpIsReadable(t *testing.T) {
	for _, cmd := range allCommands(newRoot()) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			text := helpOf(t, cmd)
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
					t.Errorf("%d columns, want %d at most: %s", n, helpWidth, line)
				}
			}
			if _, other, found := strings.Cut(text, "\nOther:\n"); found {
				t.Errorf("flags without a group; hint: flagGroups lists them:\n%s", other)
			}
			if !strings.Contains(text, "\nHelp:\n  -h, --help") {
				t.Errorf("the help has no group with --help:\n%s", text)
			}
		})
	}
}

// TestNoGroupOfFlagsIsEmpty asserts that each name that flagGroups lists is a flag.
func TestNoGroupOfFlagsIsEmpty(t *testing.T) {
	all := allCommands(newRoot())
	for _, g := range flagGroups() {
		for _, listed := range g.names {
			command, name, qualified := strings.Cut(listed, " ")
			if !qualified {
				name = listed
			}
			if !slices.ContainsFunc(all, func(cmd *cobra.Command) bool {
				return cmd.Flags().Lookup(name) != nil && (!qualified || cmd.Name() == command)
			}) {
				t.Errorf("group %s lists %q, which no command has", g.title, listed)
			}
		}
	}
}

// allCommands returns a command and all below it, with the flags that cobra adds.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultHelpCmd()
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, allCommands(c)...)
	}
	return all
}

func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var text strings.Builder
	cmd.SetOut(&text)
	cmd.SetErr(io.Discard)
	if err := cmd.Help(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
