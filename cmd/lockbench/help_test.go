package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpIsReadable asserts, of each command, that no line of its help is longer than
// helpWidth, that each of its flags is in a group, and that usual help is short.
func TestHelpIsReadable(t *testing.T) {
	for _, cmd := range allCommands(newRoot()) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			usual := helpOf(t, cmd)
			if n := strings.Count(usual, "\n"); n > 110 {
				t.Errorf("%d lines of usual help, want 110 at most: what is for experts?", n)
			}
			shown := strings.Count(usual, "\n      --")
			text := helpOf(t, cmd, allFlags)
			all := strings.Count(text, "\n      --")
			if more := fmt.Sprintf("--help all shows %d more flags.\n", all-shown); all > shown && !strings.Contains(usual, more) {
				t.Errorf("the usual help leaves out flags, and does not end in %q:\n%s", more, usual)
			}
			for line := range strings.Lines(usual) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
					t.Errorf("%d columns, want %d at most: %s", n, helpWidth, line)
				}
			}
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

// TestExpertFlagsExist asserts that each flag for experts is a flag of some command.
func TestExpertFlagsExist(t *testing.T) {
	all := allCommands(newRoot())
	for _, name := range expert {
		if !slices.ContainsFunc(all, func(cmd *cobra.Command) bool { return cmd.Flags().Lookup(name) != nil }) {
			t.Errorf("--%s is for experts, and no command has it", name)
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

func helpOf(t *testing.T, cmd *cobra.Command, args ...string) string {
	t.Helper()
	var text strings.Builder
	cmd.SetOut(&text)
	cmd.SetErr(io.Discard)
	cmd.HelpFunc()(cmd, args)
	return text.String()
}
