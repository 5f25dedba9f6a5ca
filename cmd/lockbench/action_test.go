package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// action is the GitHub action, with the fields that work without GitHub.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct{ Steps []actionStep }
}

type actionStep struct {
	ID, Name, Uses, Run string
	Env                 map[string]string
}

// hostedRunner stands in for GitHub's runner.
type hostedRunner struct {
	t      *testing.T
	dir    string // the workspace
	inputs map[string]string
	// temp is the runner's own directory, and path the directories that steps have added
	// to PATH.
	temp, path string
	// outputs are the outputs of steps, by "step.name".
	outputs map[string]string
	summary string
}

func newRunner(t *testing.T, a *action, temp string, inputs map[string]string) *hostedRunner {
	r := &hostedRunner{t: t, dir: t.TempDir(), inputs: map[string]string{}, temp: temp, outputs: map[string]string{}}
	for name, input := range a.Inputs {
		r.inputs[name] = input.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("the action has no input %q", name)
		}
		r.inputs[name] = value
	}
	return r
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// expand replaces expressions by their values. An unknown one is an error, since GitHub
// may not know it either.
func (r *hostedRunner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(match string) string {
		name := expression.FindStringSubmatch(match)[1]
		switch parts := strings.Split(name, "."); {
		case name == "github.action_path":
			root, err := filepath.Abs("../..")
			if err != nil {
				r.t.Fatal(err)
			}
			return root
		case name == "github.action_ref":
			return actionRef
		case parts[0] == "inputs" && len(parts) == 2:
			if value, ok := r.inputs[parts[1]]; ok {
				return value
			}
		case parts[0] == "steps" && len(parts) == 4 && parts[2] == "outputs":
			return r.outputs[parts[1]+"."+parts[3]]
		}
		r.t.Fatalf("expression %s: nobody knows it", match)
		return ""
	})
}

// step runs the script of a step as GitHub does, in a workflow that has settings for Go of
// its own, and returns its output and its exit code.
func (r *hostedRunner) step(s actionStep) (string, int) {
	r.t.Helper()
	files := r.t.TempDir()
	cmd := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", r.expand(s.Run))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), noServer, "GOFLAGS=-mod=vendor", "GOWORK="+filepath.Join(r.dir, "go.work"), "GITHUB_ACTIONS=true", "RUNNER_TEMP="+r.temp,
		"PATH="+r.path+os.Getenv("PATH"), "GITHUB_OUTPUT="+filepath.Join(files, "output"),
		"GITHUB_PATH="+filepath.Join(files, "path"), "GITHUB_STEP_SUMMARY="+filepath.Join(files, "summary"))
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.expand(value))
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		r.t.Fatalf("step %s: %v", s.Name, err)
	}
	for _, line := range linesOf(r.t, filepath.Join(files, "output")) {
		name, value, _ := strings.Cut(line, "=")
		r.outputs[s.ID+"."+name] = value
	}
	for _, dir := range linesOf(r.t, filepath.Join(files, "path")) {
		r.path = dir + string(filepath.ListSeparator) + r.path
	}
	r.summary += strings.Join(linesOf(r.t, filepath.Join(files, "summary")), "\n")
	return string(out), cmd.ProcessState.ExitCode()
}

// linesOf returns the lines of a file that a step may have written.
func linesOf(t *testing.T, path string) (all []string) {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		all = append(all, s.Text())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// script returns the step with this name.
func (a *action) script(t *testing.T, name string) actionStep {
	t.Helper()
	for _, s := range a.Runs.Steps {
		if s.Name == name && s.Run != "" {
			return s
		}
	}
	t.Fatalf("action.yml has no step %q that runs a script", name)
	return actionStep{}
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(contents(t, "../../action.yml")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// actionRef is the ref after the @ in the workflow.
const actionRef = "v1.2.3"

// building is held while a test builds lockbench without cgo, so that later builds find
// the first one's packages in the cache.
var building sync.Mutex

// standIn is a go command that builds nothing: it records its arguments, and takes the
// program of the tests for its output.
const standIn = `#!/bin/sh
echo "CGO_ENABLED=$CGO_ENABLED GOFLAGS=$GOFLAGS GOWORK=$GOWORK go $*" >"$RUNNER_TEMP/built"
while [ "$1" != -o ]; do shift; done
cp "$(command -v lockbench)" "$2"
`

// build runs the step that builds lockbench, with a stand-in for go unless long tests are
// on. Either way the step has to request the build that a runner needs: of this checkout,
// without the workflow's settings.
func (r *hostedRunner) build(s actionStep) {
	r.t.Helper()
	building.Lock()
	defer building.Unlock()
	if longtest.On() {
		r.passes(s)
		return
	}
	dir := r.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(standIn), 0o755); err != nil {
		r.t.Fatal(err)
	}
	r.path = dir + string(filepath.ListSeparator)
	r.passes(s)
	r.path = strings.TrimSuffix(r.path, dir+string(filepath.ListSeparator))
	want := fmt.Sprintf("CGO_ENABLED=0 GOFLAGS= GOWORK=off go -C %s build -trimpath -ldflags -X github.com/lockbench/lockbench/internal/lib/buildinfo.release=%s -o %s/lockbench/ ./cmd/lockbench\n", r.expand("${{ github.action_path }}"), actionRef, r.temp)
	if diff := cmp.Diff(contents(r.t, filepath.Join(r.temp, "built")), want); diff != "" {
		r.t.Errorf("step %s (-asked of go +want):\n%s", s.Name, diff)
	}
}

// passes runs a step that must exit 0.
func (r *hostedRunner) passes(s actionStep) {
	r.t.Helper()
	if out, code := r.step(s); code != 0 {
		r.t.Errorf("step %s: exit code %d\n%s", s.Name, code, out)
	}
}

// TestAction runs the scripts of the GitHub action's steps one after the other as a runner
// would, in a workspace other than lockbench's own checkout.
func TestAction(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("starts a dozen programs")
	case runtime.GOOS == "windows":
		t.Skip("bash of windows has paths of its own")
	}
	for _, program := range []string{"bash", "redis-server"} { // else a step would install the program
		if _, err := exec.LookPath(program); err != nil && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
			t.Skipf("%s is not in PATH", program)
		}
	}
	t.Parallel()
	a, temp := readAction(t), t.TempDir()
	setup := newRunner(t, &a, temp, nil)
	setup.build(a.script(t, "Build lockbench"))
	setup.passes(a.script(t, "Install redis-server"))
	if got, err := filepath.Glob(filepath.Join(temp, "*", "lockbench*")); err != nil || len(got) != 1 {
		t.Fatalf("built %q, %v; want one program", got, err)
	}
	for _, c := range actionRuns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, &a, temp, c.inputs)
			r.path = setup.path
			out, code := r.step(a.script(t, "Run lockbench"))
			if code != c.exit || !strings.Contains(out, c.says) {
				t.Errorf("exit code: got %d, want %d and %q\n%s", code, c.exit, c.says, out)
			}
			if got := r.expand(a.Outputs["exit-code"].Value); got != fmt.Sprint(c.exit) {
				t.Errorf("output exit-code: got %q, want %d", got, c.exit)
			}
			if !strings.Contains(r.summary, c.summary) {
				t.Errorf("summary of the step: got %q, want %q in it", r.summary, c.summary)
			}
			results := filepath.Join(r.dir, r.expand(a.Outputs["results"].Value))
			if c.failures != "" {
				r.results(results, c.exit, c.failures)
			}
		})
	}
}

// results checks the files that the action uploads by default.
func (r *hostedRunner) results(dir string, exit int, failures string) {
	var result struct{ Exit int }
	if err := json.Unmarshal([]byte(contents(r.t, filepath.Join(dir, "result.json"))), &result); err != nil || result.Exit != exit {
		r.t.Errorf("result.json: got exit %d, %v; want %d", result.Exit, err, exit)
	}
	if junit := contents(r.t, filepath.Join(dir, "junit.xml")); !strings.Contains(junit, failures) {
		r.t.Errorf("junit.xml: no %q in\n%s", failures, junit)
	}
}

// actionRuns are inputs that workflows may give to the action, and the outcomes. The
// broken lock breaks after the first nested acquire.
var actionRuns = []struct {
	name     string
	inputs   map[string]string
	exit     int
	says     string
	summary  string
	failures string // in junit.xml; if it is empty, no file is written
}{
	{"a sound lock", map[string]string{
		"args": "--design lua-token/strategy --workload mutex --key-choice own --clients 3 --operations 30 --stallers 0",
	}, results.Passed, "lua-token/strategy", "| lua-token/strategy |", `failures="0"`},
	{"a broken lock", map[string]string{
		"args": `--fail-fast --workload reentrant --nested-ttl 100ms --hold "300ms" --ttl 1s --stallers 0 --wait 50ms --clients 4 --keys 1
			--design 'hash-reentrant/plain' --duration 10m`,
	}, results.BrokenClaim, "::error ", "hash-reentrant/plain", "<failure"},
	{"an unknown design", map[string]string{"args": "--design lua-token/tokn --workload 'mutex'"}, exitUsage, `unknown design "lua-token/tokn"`, "", ""},
	{"no args", map[string]string{"run-file": "none.yaml"}, exitUsage, "open none.yaml", "", ""},
	{"blank args", map[string]string{"run-file": "none.yaml", "args": " \n "}, exitUsage, "open none.yaml", "", ""},
	{"an open quote", map[string]string{"run-file": "none.yaml", "args": "--design 'lua-token"}, exitUsage, "its quotes do not match", "", ""},
}
