package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/results"
)

// A Command is a command of lockbench, for a shell.
type Command string

// A Builder builds lockbench and runs commands of it. It is safe for concurrent use.
type Builder struct {
	program, dir string
	paths        *strings.Replacer
}

// NewBuilder builds lockbench from the current folder. paths replaces paths of this machine in reports;
// it may be nil. Close the Builder.
func NewBuilder(ctx context.Context, paths *strings.Replacer) (*Builder, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	b := &Builder{program: filepath.Join(dir, "lockbench"), dir: dir, paths: paths}
	if paths == nil {
		b.paths = strings.NewReplacer()
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/lockbench").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build: %w\n%s", err, out), b.Close())
	}
	return b, nil
}

// Program returns the path of lockbench.
func (b *Builder) Program() string { return b.program }

// Close removes what was built.
func (b *Builder) Close() error { return os.RemoveAll(b.dir) }

// A FailedError is a command that wrote no report.
type FailedError struct {
	Command Command
	Said    []string // the lines of its output
	Err     error
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("%s: %v\n%s", e.Command, e.Err, strings.Join(e.Said, "\n"))
}

// Unwrap returns why it failed.
func (e *FailedError) Unwrap() error { return e.Err }

// Report runs a command, with a flag for its report as JSON after its verb, and returns the report. A
// verdict is no error; a [FailedError] says that there is no report.
func (b *Builder) Report(ctx context.Context, c Command, verb, with string) ([]byte, error) {
	file, err := os.CreateTemp(b.dir, "*.json")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	line := strings.Replace(string(c), verb, with+file.Name(), 1)
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.Replace(line, "lockbench", b.program, 1))
	cmd.Env = append(os.Environ(), "TMPDIR="+b.dir)
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	verdict := errors.As(err, &ended) && slices.Contains([]int{results.BrokenClaim, results.Inconclusive}, ended.ExitCode())
	text, unread := os.ReadFile(file.Name())
	if err != nil && !verdict || len(text) == 0 || unread != nil {
		said := strings.Split(strings.TrimSpace(b.paths.Replace(string(out))), "\n")
		return nil, &FailedError{Command: c, Said: said, Err: errors.Join(err, unread)}
	}
	return []byte(b.paths.Replace(string(text))), nil
}

// Run runs a command "lockbench run" for one design, and returns its run.
func (b *Builder) Run(ctx context.Context, c Command) (results.Run, error) {
	text, err := b.Report(ctx, c, "lockbench run", "lockbench run --quiet --out json=")
	if err != nil {
		return results.Run{}, err
	}
	result, err := results.ReadAs[*results.Result](bytes.NewReader(text))
	if err != nil {
		return results.Run{}, err
	}
	if len(result.Runs) != 1 {
		return results.Run{}, fmt.Errorf("%s: %d runs, want 1", c, len(result.Runs))
	}
	return result.Runs[0], nil
}

// WriteSection replaces the text of a page between the lines <!-- name --> and <!-- /name -->.
func WriteSection(page, name, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("%w; hint: run it in the folder of lockbench", err)
	}
	begins, ends := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, begun := strings.Cut(string(old), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		return fmt.Errorf("%s: the lines %q and %q are missing; hint: they enclose the section", page, strings.TrimSpace(begins), strings.TrimSpace(ends))
	}
	return os.WriteFile(page, []byte(before+begins+text+"\n"+ends+after), 0o644)
}

// Least returns cells without those whose guarantee is among them under fewer of their conditions, too.
func Least(all []lockbench.Cell) []lockbench.Cell {
	return slices.DeleteFunc(slices.Clone(all), func(c lockbench.Cell) bool {
		return slices.ContainsFunc(all, func(o lockbench.Cell) bool {
			return o != c && o.Guarantee == c.Guarantee && c.Under.Has(o.Under)
		})
	})
}
