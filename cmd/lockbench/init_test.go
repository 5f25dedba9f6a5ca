package main

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/lib/runfile"
)

// TestStarter asserts that the output of init is valid, also with any of its commented
// keys enabled, and that it has all keys.
func TestStarter(t *testing.T) {
	t.Parallel()
	keys := runFileKeys(newRun().Flags())
	text := string(runfile.Starter("s.yaml", keys))
	valid(t, text)
	for _, k := range keys {
		t.Run(k.Name, func(t *testing.T) {
			commented := "\n#" + k.Name + ": "
			if strings.Contains(text, "\n"+k.Name+": ") {
				return
			}
			if !strings.Contains(text, commented) {
				t.Fatal("it is left out")
			}
			valid(t, strings.Replace(text, commented, commented[:1]+commented[2:], 1))
		})
	}
}

// valid asserts that a run file is valid, for lockbench and for editors.
func valid(t *testing.T, text string) {
	t.Helper()
	if _, err := runfile.Read("s.yaml", []byte(text), runFileKeys(newRun().Flags())); err != nil {
		t.Error(err)
	}
	if err := compiledSchema(t).Validate(asJSON(t, text)); err != nil {
		t.Error(err)
	}
}
