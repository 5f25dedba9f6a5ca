package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/cli/catalog"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// arguments complete the arguments that are not flags, by command. Other commands take any file.
var arguments = map[string]cobra.CompletionFunc{
	"run":     completeRunFile,
	"compare": completeSides,
	"rate":    completeOneDesign,
	"ttl":     completeOneDesign,
	"explore": completeDesigns,
	"matrix":  completeDesigns,
	"explain": completeCell,
	"version": cobra.NoFileCompletions,
	"init":    completeRunFile,
	"man":     completeDirectory,
}

// completeAll lets shells complete the values of all flags, and the arguments, of the commands below
// root.
func completeAll(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if complete, ok := arguments[cmd.Name()]; ok {
			cmd.ValidArgsFunction = complete
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			// It fails only if the flag does not exist, or has a completion already.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completer(f))
		})
		completeAll(cmd)
	}
}

// refuseUnknownShells makes cobra's completion command report an error for a shell it
// does not know.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // completion has been turned off
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return suggest.Unknown("shell", args[0], commandNames(cmd))
	}
}

// completer completes the values of a flag: known words, directories, files, or
// nothing.
func completer(f *pflag.Flag) cobra.CompletionFunc {
	what, _ := pflag.UnquoteUsage(f)
	v := vocabularies[f.Name]
	words := v.wordsOf(f)
	if v.examples != nil {
		words = v.examples()
	}
	switch {
	case len(words) > 0 && strings.Contains(what, "="):
		return pairCompleter(words, strings.HasPrefix(what, "kind="))
	case len(words) > 0:
		return wordCompleter(words, f.Value.Type() == "stringSlice" || v.examples != nil)
	case strings.Contains(what, "directory"):
		return completeDirectory
	case strings.Contains(what, "file"):
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return cobra.NoFileCompletions
}

// wordCompleter completes one of the words or, if commas separate several, the last one, and does
// not offer words already given.
func wordCompleter(words []catalog.Entry, commas bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndex(begun, ","); commas && i >= 0 {
			before = begun[:i+1]
		}
		given := strings.Split(before, ",")
		var all []string
		for _, w := range words {
			if !slices.Contains(given, w.Name) {
				all = append(all, described(before+w.Name, w.Summary))
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// pairCompleter completes the word that begins a value, and leaves the rest to the user: after kind=
// any path.
func pairCompleter(words []catalog.Entry, paths bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		after := ""
		if paths {
			after = "="
		}
		if strings.ContainsAny(begun, ",=") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var all []string
		for _, w := range words {
			all = append(all, described(w.Name+after, w.Summary))
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// described returns a word with the description that shells show beside it.
func described(word, summary string) string {
	if summary == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, summary)
}

func completeRunFile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

func completeDesigns(_ *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	for _, d := range impls.All() {
		if !slices.Contains(args, d.Name) {
			all = append(all, described(d.Name, d.Summary))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

func completeOneDesign(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeDesigns(cmd, args, begun)
}

// completeCell completes a design, then a guarantee, and after @ a condition.
func completeCell(cmd *cobra.Command, args []string, begun string) (all []string, _ cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return completeDesigns(cmd, args, begun)
	case 1:
		name, _, under := strings.Cut(begun, "@")
		for _, g := range catalog.Guarantees() {
			all = append(all, described(g.Name, g.Summary))
		}
		if under {
			for _, c := range catalog.Conditions() {
				all = append(all, described(name+"@"+c.Name, c.Summary))
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

func completeDirectory(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeSides completes the designs of compare --run, else files.
func completeSides(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if cmd.Flags().Changed("run") {
		return completeDesigns(cmd, args, begun)
	}
	return nil, cobra.ShellCompDirectiveDefault
}
