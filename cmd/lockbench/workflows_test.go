package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/lockbench/lockbench/internal/evidence/accept"
	"github.com/lockbench/lockbench/internal/lib/runfile"
)

// A workflow is a workflow of GitHub, with the fields that a test can check.
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

// TestWorkflows asserts that workflows give the action existing inputs, name existing files, and
// use the same versions of foreign actions as lockbench's action.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	a, text := readAction(t), contents(t, "../../action.yml")
	papers := map[string]string{"docs/ci.md": pageFile(t, ".github/workflows/locks.yml")}
	for _, path := range []string{"examples/github-workflow.yml", ".github/workflows/release.yml"} {
		papers[path] = contents(t, "../../"+path)
	}
	for path, paper := range papers {
		var w workflow
		if err := yaml.Unmarshal([]byte(paper), &w); err != nil {
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
						if file, _ := value.(string); input == "run-file" && path == "docs/ci.md" {
							pageFile(t, file)
						} else if input == "run-file" {
							exists(t, path, file)
						}
					}
				case s.Uses != "" && s.Uses != "actions/checkout@v4" && s.Uses != "actions/cache@v4" && !strings.Contains(text, "uses: "+s.Uses+"\n"):
					t.Errorf("%s uses %s, and action.yml another version of it, or none", path, s.Uses)
				}
			}
		}
		if steps < 2 {
			t.Errorf("%s has %d steps, want 2 at least", path, steps)
		}
	}
}

// yamlBlock is a file that a page shows, with its name in the first line.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n# (\\S+)\n(.*?)```")

// pageFile is the text of a file that docs/ci.md shows.
func pageFile(t *testing.T, name string) string {
	t.Helper()
	for _, m := range yamlBlock.FindAllStringSubmatch(contents(t, "../../docs/ci.md"), -1) {
		if m[1] == name {
			return m[2]
		}
	}
	t.Fatalf("docs/ci.md does not show %s", name)
	return ""
}

// TestGatePage asserts that the files of docs/ci.md are valid, and that the run file names the other.
func TestGatePage(t *testing.T) {
	t.Parallel()
	run := pageFile(t, "locks/run.yaml")
	valid(t, run)
	if _, err := runfile.Read("locks/run.yaml", []byte(run), runFileKeys(newRun().Flags())); err != nil {
		t.Error(err)
	}
	if !strings.Contains(run, "accept: locks/accepted.yaml\n") {
		t.Error("the run file accepts nothing")
	}
	if accepted, err := accept.Read("locks/accepted.yaml", []byte(pageFile(t, "locks/accepted.yaml")), knownDesign); err != nil || len(accepted) != 2 {
		t.Errorf("accepted: %v, error %v; want two", accepted, err)
	}
}

// exists asserts that a file that a paper names is in the project.
func exists(t *testing.T, paper, file string) {
	t.Helper()
	if _, err := os.Stat("../../" + file); err != nil {
		t.Errorf("%s names %s: %v", paper, file, err)
	}
}
