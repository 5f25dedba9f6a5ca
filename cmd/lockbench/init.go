package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/output"
	"github.com/lockbench/lockbench/internal/runfile"
)

// usualRunFile is the file that init writes unless another is named.
const usualRunFile = "run.yaml"

func newInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a run file to start from, with every key explained",
		Long: `init writes a run file (` + usualRunFile + ` unless another is named; - is standard output) that runs as
it is. It has the keys that most runs need. Comments below them describe all others. Editors
that know YAML schemas complete and check it.`,
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
	text := starter(path, runFileKeys(newRun().Flags()))
	if path == output.Stdout {
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; lockbench run %s runs it\n", path, path)
	return err
}

// A started key is one that a run file to start from sets.
type started struct{ key, why, value string }

// settingsToStart are what most runs want to decide, in an order to read.
var settingsToStart = []started{
	{"design", "Which locks, by name or glob: lockbench list designs has all.", "[lua-token/strategy, redislock/obtain]"},
	{"workload", "What clients do under the lock: lockbench list workloads.", "oversell"},
	{"clients", "So many clients compete for so many locks, each pair of clients for one of them.", "32"},
	{"keys", "", "12"},
	{"key-choice", "", "pairs"},
	{"ttl", "The lease they ask for, and how long they wait for a lock that is held.", "1s"},
	{"wait", "", "250ms"},
	{"hold", "How long they work under the lock: 5ms, uniform:1ms-5ms, exp:5ms or lognormal:5ms,0.8.", "exp:1ms"},
	{"stallers", "Clients beside those that are measured, which work on past their lease, as a stalled process does.", "12"},
	{"duration", "How long each design runs.", "3s"},
	{"fail-if", "What fails the run beside a broken claim: lockbench list metrics has what can be measured.", "[exclusion.violations>0, acquire.p99>5s]"},
	{"out", "Files to write beside the table.", "{json: result.json}"},
}

// samples are values for keys that have no default to show.
var samples = map[string]string{
	"server":     "redis://127.0.0.1:6379/0",
	"fault":      "[crash, lost-reply: {p: 0.01}]",
	"guard":      "[none, cas]",
	"claims":     "[+exclusion@failover, -recovery@cancel]",
	"history":    "histories",
	"seed":       "1",
	"operations": "10000",
	"rate":       "1000",
	"stages":     "[30s:100, 1m:1000]",
	"metrics":    "127.0.0.1:9090",
	"known":      "on",
	"conditions": "[outlived, crash, lost-reply]",
}

// starter is a run file to start from, for a file of that name.
func starter(path string, keys []runfile.Key) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n# A run file of lockbench. Run it with\n#\n#     lockbench run %s\n#\n", runfile.SchemaURL, path)
	b.WriteString("# Each key is a flag of lockbench run, and flags given beside the file come first:\n#\n")
	fmt.Fprintf(&b, "#     lockbench run %s --duration 1m\n", path)
	for _, s := range settingsToStart {
		if s.why != "" {
			b.WriteString("\n" + comment(s.why))
		}
		fmt.Fprintf(&b, "%s: %s\n", s.key, s.value)
	}
	b.WriteString("\n# Everything else that a run takes:\n")
	for _, k := range keys {
		if !slices.ContainsFunc(settingsToStart, func(s started) bool { return s.key == k.Name }) {
			fmt.Fprintf(&b, "\n%s#%s: %s\n", comment(k.Help), k.Name, sample(k))
		}
	}
	return b.Bytes()
}

// inHelp finds the default of a key that stands for what zero means.
var inHelp = regexp.MustCompile(`\(default ([0-9][^ ;)]*)`)

// sample is a value that a key may have: its default where it has one.
func sample(k runfile.Key) string {
	value, given := samples[k.Name]
	switch {
	case given:
		return value
	case k.Default != "":
		return k.Default
	case inHelp.MatchString(k.Help):
		return inHelp.FindStringSubmatch(k.Help)[1]
	case k.Type == runfile.Boolean:
		return "true"
	case k.Type == runfile.Duration || k.Type == runfile.Distribution:
		return "0s"
	case k.Type == runfile.Text && len(k.Known) > 0:
		return k.Known[0]
	}
	return "0"
}

// comment wraps a text into lines of comment.
func comment(text string) string {
	const width = 88
	var lines strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			lines.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return lines.String() + line + "\n"
}
