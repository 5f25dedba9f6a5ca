package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/catalog"
	"github.com/lockbench/lockbench/internal/lib/runfile"
)

// oneRunFile refuses arguments beyond the run file.
func oneRunFile(cmd *cobra.Command, args []string) error {
	if err := misplaced(args, "a run file belongs", "lockbench run --design %s"); err != nil {
		return err
	}
	if len(args) > 1 {
		return fmt.Errorf("unexpected argument %q; hint: %s -h shows what it takes", args[1], cmd.CommandPath())
	}
	return nil
}

// readRunFile reads the run file that args name, if any. It sets the flags that the command line does
// not set to the values of the file, and returns these settings. It first sets the flags of spare,
// which are of another command of the same kind, so that all faults are reported, even of values that
// the command line overrides.
func readRunFile(cmd *cobra.Command, args []string, spare *pflag.FlagSet) (runfile.File, error) {
	if len(args) == 0 {
		return runfile.File{}, nil
	}
	text, err := runfile.Load(args[0], cmd.InOrStdin())
	if err != nil {
		return runfile.File{}, err
	}
	hidePasswords(cmd.Root(), string(text)) // until the command ends
	file, err := runfile.Read(args[0], text, runFileKeys(spare))
	if err != nil {
		return file, err
	}
	set := file.Settings[:0]
	for _, s := range file.Settings {
		f := cmd.Flags().Lookup(s.Key.Name)
		if f.Changed {
			continue
		}
		if err := apply(f, s); err != nil {
			return file, runfile.Problem{File: file.Name, At: s.At, Err: err}
		}
		set = append(set, s)
	}
	file.Settings = set
	return file, nil
}

// apply sets a flag to the values of a run file. As on a command line, they must not be empty.
func apply(f *pflag.Flag, s runfile.Setting) (err error) {
	f.Changed = true
	if list, ok := f.Value.(pflag.SliceValue); ok {
		err = list.Replace(s.Texts())
	} else {
		err = f.Value.Set(s.Values[0].Text)
	}
	if err == nil && isEmpty(f.Value) {
		err = fmt.Errorf("%s %q: the value is empty; hint: a value, or leave the key out", f.Name, "")
	}
	return err
}

// settingOf returns a function that gives the values of a flag, as errors write them.
func settingOf(f *pflag.FlagSet) func(runfile.Setting) []string {
	return func(s runfile.Setting) []string {
		v := f.Lookup(s.Key.Name).Value
		if list, ok := v.(pflag.SliceValue); ok {
			return list.GetSlice()
		}
		return []string{v.String()}
	}
}

// runFileKeys returns the keys of a run file: one for each flag, with its name.
func runFileKeys(flags *pflag.FlagSet) (keys []runfile.Key) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "share" { // machines have the same file, and another share each
			return
		}
		keys = append(keys, keyOf(f))
	})
	return keys
}

// keyOf derives a key from the description of a flag, and from its vocabulary.
func keyOf(f *pflag.Flag) runfile.Key {
	what, help := pflag.UnquoteUsage(f)
	_, list := f.Value.(pflag.SliceValue)
	v := vocabularies[f.Name]
	k := runfile.Key{
		Name: f.Name, Help: help, Type: typeOf(f.Value), Known: catalog.Names(v.wordsOf(f)), Patterns: v.globs,
		List: list, Commas: f.Value.Type() == "stringSlice", Joined: v.joined, Pair: v.pair, Check: v.check,
	}
	if k.Pair == "" && strings.Contains(what, "=") {
		k.Pair = "=" // kind=path, say
	}
	if (!list || k.Type == runfile.Integer) && !slices.Contains(unsetDefaults, f.DefValue) {
		k.Default = f.DefValue
	}
	switch {
	case k.Check != nil:
	case k.Type == runfile.Integer && list:
		k.Check = func(text string) error {
			_, err := strconv.Atoi(text)
			return err
		}
	case !list:
		k.Check = func(text string) error {
			if err := f.Value.Set(text); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			return nil
		}
	}
	return k
}

// unsetDefaults are the defaults that mean another value, or none.
var unsetDefaults = []string{"", "0", "0s", "false"}

// typeOf returns the syntax of a flag's values.
func typeOf(v pflag.Value) runfile.Type {
	switch v.Type() {
	case "bool":
		return runfile.Boolean
	case "int", "int64", "intSlice":
		return runfile.Integer
	case "uint", "uint64":
		return runfile.Count
	case "float64":
		return runfile.Number
	case "duration":
		return runfile.Duration
	case "distribution":
		return runfile.Distribution
	case "string", "stringSlice", "stringArray":
		return runfile.Text
	}
	return runfile.Scalar // a type of lockbench
}
