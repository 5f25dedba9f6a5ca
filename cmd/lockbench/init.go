package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/lib/runfile"
)

// usualRunFile is the default file of init.
const usualRunFile = "run.yaml"

func newInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a run file to start from, with every key explained",
		Long: `init writes a run file (` + usualRunFile + ` unless another is named; - is standard output) that can be run
unchanged. It sets the keys that most runs need; comments describe all others. Editors that
support YAML schemas complete and check it.`,
		Example: `  lockbench init
  lockbench run run.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("unexpected argument %q; hint: one file at a time", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return initRunFile(cmd, append(args, usualRunFile)[0], force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that exists")
	return cmd
}

func initRunFile(cmd *cobra.Command, path string, force bool) error {
	text := runfile.Starter(path, runFileKeys(newRun().Flags()))
	if path == stdoutPath {
		_, err := cmd.OutOrStdout().Write(text)
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory; hint: name a file in it", path)
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !force {
		how |= os.O_EXCL
	}
	f, err := os.OpenFile(path, how, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; hint: name another file, or --force to overwrite it", path)
	}
	if err != nil {
		return fmt.Errorf("%w; hint: name a file in a folder that exists", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	path = legible.Text(path)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; lockbench run %s runs it\n", path, path)
	return err
}
