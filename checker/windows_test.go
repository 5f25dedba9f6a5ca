package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// catching are the tests. At least one must fail for each mutant of the table of windows.
const catching = "^(TestCases|TestSimulatedLockPasses|TestMutantsAreFound|TestViolationsCarryTheirCondition|TestIntrudersAreCaughtAmidForgetting)$"

// TestWindowMutantsExist looks for the text that each mutant of testdata/windows.txt changes:
// it is there once, or the list is out of date.
func TestWindowMutantsExist(t *testing.T) {
	for _, m := range windowMutants(t) {
		if _, err := m.mutated(); err != nil {
			t.Error(err)
		}
	}
}

// TestWindowMutantsAreCaught compiles this package with each of the mutants in turn, and
// requires a test to fail. With a share of the size of long tests it takes some of them; which, follows
// from the text of the package, so that each change of it has others.
func TestWindowMutantsAreCaught(t *testing.T) {
	longtest.Only(t)
	seed := hashOfSources(t)
	if said, passed := judgeWith(t, buildWith(t, overlay(t, nil))); !passed {
		t.Fatalf("the tests fail without any mutant:\n%s", said)
	}
	for i, m := range windowMutants(t) {
		if !longtest.Picks(i, seed) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			text, err := m.mutated()
			if err != nil {
				t.Fatal(err)
			}
			if _, passed := judgeWith(t, buildWith(t, overlay(t, map[string]string{m.file: text}))); passed {
				t.Errorf("no test fails; hint: a case of testdata/cases.txt in which this matters\n- %s\n+ %s", m.before, m.after)
			}
		})
	}
}

// hashOfSources returns a hash of the files of the package, tests and mutants included.
func hashOfSources(t *testing.T) uint32 {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	hash := fnv.New32a()
	for _, file := range append(files, "testdata/windows.txt", "testdata/cases.txt") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(content)
	}
	return hash.Sum32()
}

// A windowMutant is a change of the rules for touching.
type windowMutant struct{ name, file, before, after string }

func windowMutants(t *testing.T) (all []windowMutant) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/windows.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		name, file, named := strings.Cut(f.Name, " ")
		before, after, split := strings.Cut(strings.TrimRight(string(f.Data), "\n"), "\n====\n")
		if !named || !split {
			t.Fatalf("%s: want a name and a file, and two texts with a line of ==== between", f.Name)
		}
		all = append(all, windowMutant{name, file, before, after})
	}
	return all
}

// mutated is the text of its file with the change.
func (m windowMutant) mutated() (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.before); n != 1 {
		return "", fmt.Errorf("mutant %s: its text occurs %d times in %s, want once:\n%s", m.name, n, m.file, m.before)
	}
	return strings.Replace(string(text), m.before, m.after, 1), nil
}

// overlay writes the list of the files that go build reads instead of others: the texts instead of
// the files of these names, and nothing instead of the tests of package checker_test. They are not
// among the catching ones, and import so much that a build with them takes seven times as long.
func overlay(t *testing.T, texts map[string]string) string {
	t.Helper()
	folder, replaced := t.TempDir(), make(map[string]string)
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	original := func(file string) string {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for file, text := range texts {
		replaced[original(file)] = write(filepath.Base(file), []byte(text))
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tests {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(content, []byte("package checker_test\n")) {
			replaced[original(file)] = ""
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	return write("overlay.json", list)
}

// buildWith compiles the tests of this package with an overlay.
func buildWith(t *testing.T, overlay string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "checker.test")
	args := []string{"test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", program} // without data for debuggers, in half the time
	if said, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, said)
	}
	return program
}

// judgeWith runs the catching tests of program, on few histories.
func judgeWith(t *testing.T, program string) (said string, passed bool) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "-test.run", catching, "-test.failfast", "-histories", "2400")
	run.Env = append(os.Environ(), longtest.Variable+"=0")
	out, err := run.CombinedOutput()
	return string(out), err == nil
}
