package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// helpWidth is the length of the longest line of a help text, in columns.
const helpWidth = 100

// usageTemplate is the usage template of all commands: cobra's default, with the flags in groups.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Available Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableFlags}}

{{flagGroups .Name .Flags | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for more information about a command.{{end}}
`

// A flagGroup is a heading and the names of its flags, in the order in which they are shown. A
// name that has another meaning in one command is listed as "COMMAND NAME".
type flagGroup struct {
	title string
	names []string
}

// flagGroups returns the groups of all flags of all commands, in the order in which they are shown.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"What to run", []string{"run", "design", "take", "free", "extend", "workload", "scenario", "server", "guard", "drivers", "replay", "resume", "explain from", "clean idle"}},
		{"Load", []string{"clients", "processes", "threads", "pool", "keys", "key-choice", "ttl", "wait", "hold", "think", "slow", "slow-factor", "stallers"}},
		{"Length", []string{"duration", "warmup", "operations", "rounds", "budget", "schedules"}},
		{"Open loop", []string{"rate", "arrival", "stages"}},
		{"Settings of one workload", []string{"stock", "threshold", "points", "depth", "nested-ttl", "period", "delay"}},
		{"Search", []string{"target", "from", "least", "most", "votes", "risk", "confidence", "precision", "strategy"}},
		{"Faults", []string{"fault", "faults", "kinds", "moves", "skew"}},
		{"Randomness", []string{"seed"}},
		{"Judging", []string{"claims", "fail-if", "fail-if-slower", "fail-if-weaker", "accept", "fail-fast", "abort-on-fail", "expect", "compare force"}},
		{"Conclusion", []string{"explore", "known", "conditions"}},
		{"The case", []string{"if-two-hold", "work", "service", "waiters", "choose conditions"}},
		{"Output", []string{"out", "evidence", "history", "save", "html", "svg", "json", "verbose", "force", "metrics", "ui", "quiet", "no-descriptions"}},
		{"Help", []string{"help"}},
	}
}

// helpOfFlags returns the help of the flags of a command: each group that has any, under its title.
// A flag that no group lists comes last, under "Other".
func helpOfFlags(command string, all *pflag.FlagSet) string {
	var text strings.Builder
	listed := pflag.NewFlagSet(command, pflag.ContinueOnError)
	for _, g := range flagGroups() {
		section(&text, g.title, g.of(command, all))
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
		text.WriteString(title + ":\n" + flags.FlagUsagesWrapped(helpWidth) + "\n")
	}
}

// of returns the flags of a command that the group lists, in its order.
func (g flagGroup) of(command string, all *pflag.FlagSet) *pflag.FlagSet {
	own := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
	own.SortFlags = false
	for _, listed := range g.names {
		name := strings.TrimPrefix(listed, command+" ")
		f := all.Lookup(name)
		if f != nil && (name != listed || !hasOwn(command, name)) {
			own.AddFlag(f)
		}
	}
	return own
}

// hasOwn reports whether a name has another meaning in this command than in the others.
func hasOwn(command, name string) bool {
	return slices.ContainsFunc(flagGroups(), func(g flagGroup) bool { return slices.Contains(g.names, command+" "+name) })
}
