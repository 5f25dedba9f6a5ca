package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/lib/suggest"
)

// explainFlag adds a hint to the error of a flag: an existing flag, a value of its type, or the
// command that lists the flags.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	switch {
	case !cmd.HasParent() && cmd.Flags().Arg(0) == sweep: // the flags come before the verb is looked up
		return errSweep
	case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "design" && strings.Contains(cmd.Use, "DESIGN"):
		return fmt.Errorf("%w; hint: designs are arguments here, %s", err, cmd.UseLine())
	case errors.As(err, &unknown):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := suggest.Near(unknown.GetSpecifiedName(), known); len(near) > 0 {
			return fmt.Errorf("%w; hint: did you mean --%s?", err, strings.Join(near, ", --"))
		}
	case errors.As(err, &wrong):
		return wrongValue(wrong)
	}
	return fmt.Errorf("%w; hint: %s -h lists the flags", err, cmd.CommandPath())
}

// wrongValue names the values that a flag takes. The errors of lockbench's own types of flags name
// them already.
func wrongValue(err *pflag.InvalidValueError) error {
	f := err.GetFlag()
	what, example, simple := typeOf(f.Value).Takes()
	switch {
	case f.Value.Type() == "intSlice":
		what, example = "whole numbers, by comma", "1,8,64"
	case !simple:
		return fmt.Errorf("--%s %s: %w", f.Name, err.GetValue(), err.Unwrap())
	}
	return fmt.Errorf("--%s %q: it takes %s; hint: such as %s", f.Name, err.GetValue(), what, example)
}

// refuseEmpty refuses flags with an empty value, such as of an unset variable of a shell: the
// default would do something else than was intended.
func refuseEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && isEmpty(f.Value) {
			err = fmt.Errorf("--%s %q: the value is empty; hint: a value, or leave the flag out", f.Name, "")
		}
	})
	return err
}

// refuseUnused refuses flags that have no effect beside the flag of that name, which names a file
// with the settings; used are the flags that have an effect.
func refuseUnused(name string, flags *pflag.FlagSet, used ...string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(used, f.Name) {
			err = fmt.Errorf("--%s %s: it has no effect with --%s, whose file decides it; hint: leave one of them out", f.Name, f.Value, name)
		}
	})
	return err
}

// isEmpty reports whether v is an empty text, an empty list, or a list with an empty text.
func isEmpty(v pflag.Value) bool {
	if list, ok := v.(pflag.SliceValue); ok {
		texts := list.GetSlice()
		return len(texts) == 0 || slices.Contains(texts, "")
	}
	return v.Type() == "string" && v.String() == ""
}

// misplaced returns the error for designs in place of other arguments. It suggests command, with
// %s for the designs. It returns nil if the arguments are no designs.
func misplaced(args []string, expected, command string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "+") // a guard
		if _, err := impls.Match(name); err != nil {
			return nil
		}
	}
	if len(args) == 0 {
		return nil
	}
	what := "a design stands"
	if len(args) > 1 {
		what = "designs stand"
	}
	named := strings.Join(args, " ")
	if strings.Contains(command, "--design") {
		named = strings.Join(args, ",")
	}
	return fmt.Errorf("%s: %s where %s; hint: %s", named, what, expected, fmt.Sprintf(command, named))
}

// noArgs refuses arguments that are not flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q; hint: %s -h shows what it takes", args[0], cmd.CommandPath())
	}
	return nil
}
