package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/catalog"
)

// TestOnlyFor checks that a flag is refused for other workloads if and only if its help
// names one workload.
func TestOnlyFor(t *testing.T) {
	found := 0
	newRun().Flags().VisitAll(func(f *pflag.Flag) {
		of, _, _ := strings.Cut(f.Usage, ": ")
		for _, w := range catalog.Workloads() {
			if w.Name == of {
				found++
				if onlyFor[f.Name] != of {
					t.Errorf("--%s is for workload %s by its help, and for %q otherwise", f.Name, of, onlyFor[f.Name])
				}
			}
		}
	})
	if found != len(onlyFor) {
		t.Errorf("%d flags are for one workload by their help, and %d otherwise", found, len(onlyFor))
	}
}

// TestFlagsBut checks that flags that a command takes from run have the same effect
// there.
func TestFlagsBut(t *testing.T) {
	o, f := runOptions{params: tour()}, pflag.NewFlagSet("some", pflag.ContinueOnError)
	added := o.flagsBut(f, "design", "clients")
	if f.Lookup("design") != nil || f.Lookup("clients") != nil {
		t.Error("a flag is there that was to be left out")
	}
	for _, name := range added {
		if f.Lookup(name) == nil {
			t.Errorf("--%s was named and is not there", name)
		}
	}
	if err := f.Parse([]string{"--keys", "7", "-q"}); err != nil {
		t.Fatal(err)
	}
	if o.params.Keys != 7 || !o.quiet {
		t.Errorf("got %d keys, quiet %v; want what was asked for", o.params.Keys, o.quiet)
	}
}

func TestServersFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		server string
		want   []string
	}{
		{"", nil},
		{" redis://a  redis://b", []string{"redis://a", "redis://b"}},
		{"file:///c", []string{"file:///c"}},
	} {
		t.Setenv(serverVariable, c.server)
		if got := serversFromEnvironment(); !slices.Equal(got, c.want) {
			t.Errorf("%s=%q: got %q, want %q", serverVariable, c.server, got, c.want)
		}
	}
}
