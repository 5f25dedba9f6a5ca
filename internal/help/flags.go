package help

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Width is the longest line of a help text, in columns.
const Width = 100

// Template is the usage template of a command for cobra: its default template, with the
// flags in groups.
const Template = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Available Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableFlags}}

{{flagGroups .Name .Flags | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for more information about a command.{{end}}
`

// Flags returns the help of the flags of a command: each group that has any, under its title.
// A flag that no group lists comes last, under "Other".
func Flags(command string, all *pflag.FlagSet) string {
	var text strings.Builder
	listed := pflag.NewFlagSet(command, pflag.ContinueOnError)
	for _, g := range Groups() {
		section(&text, g.Title, g.of(command, all))
		listed.AddFlagSet(g.of(command, all))
	}
	other := pflag.NewFlagSet(command, pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if listed.Lookup(f.Name) == nil {
			other.AddFlag(f)
		}
	})
	section(&text, "Other", other)
	return text.String()
}

// section writes the flags of one group under its title; nothing if there is none to show.
func section(text *strings.Builder, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		text.WriteString(title + ":\n" + flags.FlagUsagesWrapped(Width) + "\n")
	}
}

// of returns the flags of a command that the group lists, in its order.
func (g Group) of(command string, all *pflag.FlagSet) *pflag.FlagSet {
	own := pflag.NewFlagSet(g.Title, pflag.ContinueOnError)
	own.SortFlags = false
	for _, listed := range g.Flags {
		name := strings.TrimPrefix(listed, command+" ")
		f := all.Lookup(name)
		if f != nil && (name != listed || !hasOwn(command, name)) {
			own.AddFlag(f)
		}
	}
	return own
}

// hasOwn reports whether a name has a meaning of its own in a command.
func hasOwn(command, name string) bool {
	return slices.ContainsFunc(Groups(), func(g Group) bool { return slices.Contains(g.Flags, command+" "+name) })
}
