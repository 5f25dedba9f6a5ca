package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unescaped removes the typesetting from the text of a manual page.
var unescaped = strings.NewReplacer(`\-`, "-", `\&`, "", `\\`, `\`, `\fB`, "", `\fI`, "", `\fR`, "", `\(lq`, `"`, `\(rq`, `"`, `\(aq`, "'")

// TestManualIsComplete asserts that each command has a page, with the descriptions of
// all of its flags, word by word: pages are made from Markdown, which gives some
// characters a meaning.
func TestManualIsComplete(t *testing.T) {
	dir := t.TempDir()
	if err := writeManual(newRoot(), dir); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		t.Run(cmd.Name(), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "lockbench-"+cmd.Name()+".1"))
			if err != nil {
				t.Fatal(err)
			}
			page := flat(unescaped.Replace(string(text)))
			for _, text := range textsOf(cmd) {
				if !strings.Contains(page, flat(text)) {
					t.Errorf("the page lacks or garbles %q", text)
				}
			}
		})
	}
}

// textsOf returns the texts that a page must have about a command.
func textsOf(cmd *cobra.Command) []string {
	all := append(strings.Split(cmd.Long, "\n\n"), cmd.Short)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		all = append(all, "--"+f.Name, usage)
	})
	return all
}

// flat returns a text without its line breaks and indentation.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
