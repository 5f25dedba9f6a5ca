package main

import (
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A workflow is one of GitHub, as far as a test can say whether it would run.
type workflow struct {
	On   any
	Jobs map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []struct {
			Uses, Run string
			With      map[string]any
		}
	}
}

// TestWorkflows asserts that workflows give our action inputs that it has, name files that are there, and
// take the versions of other people's actions that ours takes.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	a, text := readAction(t), contents(t, "../../action.yml")
	for _, path := range []string{"../../examples/github-workflow.yml", "../../.github/workflows/release.yml"} {
		var w workflow
		if err := yaml.Unmarshal([]byte(contents(t, path)), &w); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		steps := 0
		for name, job := range w.Jobs {
			if job.RunsOn == "" || w.On == nil {
				t.Errorf("%s: job %s runs nowhere, or never", path, name)
			}
			for _, s := range job.Steps {
				steps++
				for _, word := range strings.Fields(s.Run) {
					if strings.HasPrefix(word, ".ci/") {
						exists(t, path, word)
					}
				}
				switch {
				case strings.HasPrefix(s.Uses, "lockbench/lockbench@"):
					for input, value := range s.With {
						if _, known := a.Inputs[input]; !known {
							t.Errorf("%s: the action has no input %q", path, input)
						}
						if input == "run-file" {
							exists(t, path, value.(string))
						}
					}
				case s.Uses != "" && s.Uses != "actions/checkout@v4" && !strings.Contains(text, "uses: "+s.Uses+"\n"):
					t.Errorf("%s uses %s, and action.yml another version of it, or none", path, s.Uses)
				}
			}
		}
		if steps < 2 {
			t.Errorf("%s has %d steps, want 2 at least", path, steps)
		}
	}
}

// exists sees that a file of the project that a paper names is there.
func exists(t *testing.T, paper, file string) {
	t.Helper()
	if _, err := os.Stat("../../" + file); err != nil {
		t.Errorf("%s names %s: %v", paper, file, err)
	}
}
