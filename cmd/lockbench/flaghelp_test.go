package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// TestHelpOfFlags asserts the order of groups and flags, the hanging indent of wrapped lines, a name
// with a meaning of its own in one command, and that no flag is left out.
func TestHelpOfFlags(t *testing.T) {
	f := pflag.NewFlagSet("compare", pflag.ContinueOnError)
	f.Bool("unheard-of", false, "some flag")
	f.Bool("force", false, "compare anyway")
	f.Int("keys", 12, strings.Repeat("word ", 20)+"end")
	f.Int("clients", 32, "number of clients")
	want := `Load:
      --clients int   number of clients (default 32)
      --keys int      word word word word word word word word word word
                      word word word word word word word word word word
                      end (default 12)

%s:
      --force   compare anyway

Other:
      --unheard-of   some flag

`
	for command, group := range map[string]string{"compare": "Judging", "init": "Output"} {
		got := strings.TrimSpace(helpOfFlags(command, f))
		if diff := cmp.Diff(got, strings.TrimSpace(strings.Replace(want, "%s", group, 1))); diff != "" {
			t.Errorf("flags of %s (-got +want):\n%s", command, diff)
		}
	}
}

// TestEachFlagHasOneGroup asserts that no group is empty and that none repeats a flag.
func TestEachFlagHasOneGroup(t *testing.T) {
	in := map[string]string{}
	for _, g := range flagGroups() {
		if len(g.names) == 0 {
			t.Errorf("group %s lists no flag", g.title)
		}
		for _, name := range g.names {
			if was, twice := in[name]; twice {
				t.Errorf("--%s is in the groups %s and %s", name, was, g.title)
			}
			in[name] = g.title
		}
	}
}

func TestFirstClause(t *testing.T) {
	for usage, want := range map[string]string{
		"number of locks": "number of locks",
		"number of locks; each design runs once with each (default 10)":            "number of locks (default 10)",
		"`URL` of the server: redis:// (of a cluster any node; of a sentinel one)": "`URL` of the server",
		"time (0s: none), such as host:port; repeated":                             "time (0s: none), such as host:port",
	} {
		if got := firstClause(usage); got != want {
			t.Errorf("%q: got %q, want %q", usage, got, want)
		}
	}
}
