package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/lib/wrap"
)

// helpWidth is the length of the longest line of a help text, in columns.
const helpWidth = wrap.Width

// usage returns the usage of a command: the line to type, examples, and the commands and the flags in
// groups, in lines that fit. It is a function rather than a template because a template calls
// methods by their names, and the linker then keeps every method of every library.
func usage(cmd *cobra.Command) string {
	text := "Usage:"
	if cmd.Runnable() {
		text += "\n  " + strings.Join(wrap.Lines(cmd.UseLine(), helpWidth-len("  "), 4), "\n  ")
	}
	if cmd.HasAvailableSubCommands() {
		text += "\n  " + cmd.CommandPath() + " [command]"
	}
	if cmd.HasExample() {
		text += "\n\nExamples:\n" + wrappedExamples(cmd.Example)
	}
	groups := cmd.Groups()
	if len(groups) == 0 && cmd.HasAvailableSubCommands() {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, group := range groups {
		text += "\n\n" + group.Title
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == group.ID {
				text += fmt.Sprintf("\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if cmd.HasAvailableFlags() {
		text += "\n\n" + strings.TrimRight(flagsOf(cmd), "\n")
	}
	if cmd.HasAvailableSubCommands() {
		text += "\n\n\"" + cmd.CommandPath() + " [command] --help\" has more about a command."
	}
	return text + "\n"
}

// expert are the flags that help shows only if all are asked for: those of a single workload, and
// those that change what the usual ones imply. Run files, completion and manual pages have them all.
var expert = []string{
	"processes", "threads", "pool", "key-choice", "groups", "share", "shared-keys", "think", "slow", "slow-factor", "warmup", "arrival", "stages",
	"stock", "threshold", "points", "depth", "nested-ttl", "period", "delay",
	"rounds", "strategy", "moves", "skew", "votes", "least", "most", "from", "confidence",
	"fail-fast", "abort-on-fail", "known", "metrics", "drivers", "listen", "nats", "token", "tls-cert", "tls-key", "waits", "stamps",
}

// allFlags is the word after --help, and the annotation of a command, that asks for all flags.
const allFlags = "all"

// A flagGroup is a heading and the names of its flags, in the order in which they are shown. A
// name that has another meaning in one command is listed as "COMMAND NAME".
type flagGroup struct {
	title string
	names []string
}

// flagGroups returns the groups of all flags of all commands, in the order in which they are shown.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"What to run", []string{"run", "design", "run service", "adapter", "waits", "stamps", "take", "free", "extend", "workload", "scenario", "server", "guard", "drivers", "replay", "resume", "explain from", "clean idle"}},
		{"Load", []string{"clients", "processes", "threads", "pool", "keys", "key-choice", "groups", "share", "agents", "shared-keys", "ttl", "wait", "hold", "think", "slow", "slow-factor", "stallers"}},
		{"Several machines", []string{"listen", "nats", "token", "agent token", "tls-cert", "tls-key", "tls-ca"}},
		{"Length", []string{"duration", "warmup", "operations", "rounds", "pairs", "budget", "schedules"}},
		{"Open loop", []string{"rate", "arrival", "stages"}},
		{"Settings of one workload", []string{"stock", "threshold", "points", "depth", "nested-ttl", "period", "delay"}},
		{"Search", []string{"target", "from", "least", "most", "votes", "risk", "confidence", "precision", "strategy"}},
		{"Faults", []string{"fault", "faults", "kinds", "moves", "skew"}},
		{"Randomness", []string{"seed"}},
		{"Judging", []string{"claims", "together", "fail-if", "fail-if-slower", "fail-if-weaker", "accept", "fail-fast", "abort-on-fail", "expect", "compare force"}},
		{"Conclusion", []string{"explore", "known", "conditions"}},
		{"The case", []string{"if-two-hold", "work", "service", "waiters", "choose conditions"}},
		{"Output", []string{"out", "evidence", "history", "save", "json", "verbose", "force", "metrics", "ui", "quiet", "no-descriptions"}},
		{"Help", []string{"help", "version"}},
	}
}

// flagsOf returns the help of the flags of a command: of all, if that was asked for, else the first
// clause on each of the usual ones.
func flagsOf(cmd *cobra.Command) string {
	if _, all := cmd.Annotations[allFlags]; all {
		return helpOfFlags(cmd.Name(), cmd.Flags())
	}
	usual, left := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError), 0
	usual.SortFlags = false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !slices.Contains(expert, f.Name) || hasOwn(cmd.Name(), f.Name):
			brief := *f
			brief.Usage = firstClause(f.Usage)
			usual.AddFlag(&brief)
		case !f.Hidden:
			left++
		}
	})
	text := helpOfFlags(cmd.Name(), usual)
	if left > 0 {
		text += fmt.Sprintf("%s --help %s shows %d more flags.\n", cmd.CommandPath(), allFlags, left)
	}
	return text
}

// saysDefault matches the default at the end of the usage of a flag whose value does not show it.
var saysDefault = regexp.MustCompile(` \(default [^()]*\)$`)

// firstClause returns the usage of a flag up to the first colon or semicolon that is not in parentheses,
// with the default that it states.
func firstClause(usage string) string {
	depth := 0
	for i, c := range usage {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ':', ';':
			if depth == 0 && strings.HasPrefix(usage[i+1:], " ") {
				return usage[:i] + saysDefault.FindString(usage)
			}
		}
	}
	return usage
}

// wrappedExamples returns examples in lines that fit the help.
func wrappedExamples(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range wrap.Command(strings.TrimPrefix(line, "  "), helpWidth-len("  "), 4) {
			lines = append(lines, "  "+part)
		}
	}
	return strings.Join(lines, "\n")
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
