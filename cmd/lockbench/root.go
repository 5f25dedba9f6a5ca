package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/lib/wholefile"
	"github.com/lockbench/lockbench/internal/lib/wrap"
)

// exitUsage is the exit code for an error of usage or set-up. The exit codes of results are in the
// reports package.
const exitUsage = 2

// exitInterrupted is the exit code of a command that was interrupted without a result, by the
// convention of shells.
const exitInterrupted = 130

// endsAtOnce makes a signal end the process until stop is called. It is for commands that drive no
// locks and have nothing to clean up on a server.
func endsAtOnce(cmd *cobra.Command) (stop func() bool) {
	return context.AfterFunc(cmd.Context(), func() {
		wholefile.Abandon()
		os.Exit(exitInterrupted)
	})
}

// verdict is the exit code of a result that has been written, passed on as an error without a
// message.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit code %d", int(v)) }

// verdictOf returns the error for an exit code, nil for 0.
func verdictOf(exit int) error {
	if exit == 0 {
		return nil
	}
	return verdict(exit)
}

// execute runs the command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	defer hidePasswords(root, append([]string{os.Getenv(serverVariable)}, args...)...)()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var v verdict
	switch {
	case err == nil:
		return 0
	case errors.As(err, &v):
		return int(v)
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitUsage // a reader that closed the pipe needs no message
	}
	fmt.Fprintln(stderr, wrap.Fit(stderr, legible.Text(complaint(cmd, err))))
	return exitUsage
}

// hidePasswords hides the passwords of addresses in these texts from all that the program writes, until
// the returned function is called. The words of its help are no secrets.
func hidePasswords(root *cobra.Command, texts ...string) (show func()) {
	said := sync.OnceValue(func() string {
		var help strings.Builder
		var add func(*cobra.Command)
		add = func(c *cobra.Command) {
			fmt.Fprintln(&help, c.Use, c.Short, c.Long, c.Example)
			c.Flags().VisitAll(func(f *pflag.Flag) { fmt.Fprintln(&help, f.Name, f.Usage) })
			for _, sub := range c.Commands() {
				add(sub)
			}
		}
		add(root)
		return help.String()
	})
	return legible.Hide(func(word string) bool { return strings.Contains(said(), word) }, texts...)
}

// complaint renders the error of a command for people: the command, the failure and its reason, and
// the hint on a line of its own.
func complaint(cmd *cobra.Command, err error) string {
	what, hint, hinted := strings.Cut(err.Error(), "; hint: ")
	program, verb, _ := strings.Cut(cmd.CommandPath(), " ")
	for _, name := range []string{verb, program} {
		if name != "" {
			what = name + ": " + strings.TrimPrefix(what, name+": ")
		}
	}
	if !hinted {
		return what
	}
	return what + "\nhint: " + hint
}

func init() {
	cobra.EnableCommandSorting = false // commands stand in the order in which a user meets them
}

// sweep is a former command: the hint of its error names run, which takes lists.
const sweep = "sweep"

var errSweep = fmt.Errorf("unknown command %q; hint: lockbench run --clients 1,8,64 runs each number of clients", sweep)

func newRoot() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "lockbench",
		Short: "How fast is a distributed lock, and which guarantees does it keep?",
		Long: `lockbench runs lock designs with real clients on a real Redis, records every operation, and
judges from the record alone which guarantees were held. It also explores the schedules of a
design, one command at a time, and prints one that breaks it.

Exit codes: 0 every claim that could be exercised was held; 1 a claim was broken; 2 an error of
usage or set-up; 3 inconclusive; 4 a threshold (--fail-if) failed, and nothing worse.`,
		Example: `  lockbench run                       a tour of five designs, in half a minute
  lockbench choose                    which lock for your case
  lockbench run --design 'lua-token/*' --clients 64 --duration 1m
  lockbench explore lua-token/token   look for the schedule that breaks it
  lockbench check histories/*.lbh     judge saved histories again`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return refuseEmpty(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
				return err
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			if args[0] == sweep {
				return errSweep
			}
			if err := misplaced(args, "a command belongs", "lockbench run --design %s"); err != nil {
				return err
			}
			return suggest.Unknown("command", args[0], commandNames(cmd))
		},
	}
	root.SetFlagErrorFunc(explainFlag)
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), usage(cmd))
		return err
	})
	printHelp := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		out := cmd.OutOrStdout()
		cmd.SetOut(&text)
		if len(args) > 0 && args[len(args)-1] == allFlags {
			cmd.Annotations = map[string]string{allFlags: ""}
		}
		cmd.Long = wrap.Paragraphs(cmd.Long, helpWidth)
		printHelp(cmd, args)
		cmd.SetOut(out)
		if _, err := out.Write(text.Bytes()); err != nil && !errors.Is(err, syscall.EPIPE) {
			fmt.Fprintln(cmd.ErrOrStderr(), legible.Text(complaint(cmd, err)))
			os.Exit(exitUsage)
		}
	})
	root.AddGroup(&cobra.Group{ID: "usual", Title: "Commands:"}, &cobra.Group{ID: "more", Title: "More commands:"})
	grouped(root, "usual", newRun(), newChoose(), newExplore(), newCheck(), newCompare(), newLimit())
	grouped(root, "more", newMatrix(), newExplain(), newList(), newReport(), newHistory(), newMerge(), newAgent(), newInit(), newAdapter(), newClean(), newVersion(), newMan())
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.Flags().BoolVar(&version, "version", false, "version of lockbench")
	refuseUnknownTopics(root)
	refuseUnknownShells(root)
	completeAll(root)
	return root
}

// grouped adds commands to a group.
func grouped(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
	}
	root.AddCommand(commands...)
}

// refuseUnknownTopics makes cobra's help command refuse a name that no command has.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "help" })
	root.Commands()[i].RunE = func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		switch {
		case err != nil:
			return err
		case slices.Equal(rest, []string{allFlags}):
			cmd.HelpFunc()(cmd, rest)
			return nil
		case len(rest) > 0:
			return suggest.Unknown("command", rest[0], commandNames(cmd))
		}
		return cmd.Help()
	}
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}
