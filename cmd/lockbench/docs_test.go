package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/lib/faketime"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// notRun are the commands of the documents that no test runs: those that .ci/run runs anyway
// (the tour, the tests, the benchmark), those that take minutes, and those that need a
// network, another machine or a server of the user's.
var notRun = []string{
	"go run ./cmd/lockbench run", "go test ./...", "go test ./checker", "bash bench/", "go install ", "lockbench run --server ", "lockbench clean --server ", "git clone ", "docker ",
	"lockbench agent ", "lockbench run --agents ",
	"lockbench matrix   ",
}

// A shellBlock is the commands of one block of a document.
type shellBlock struct {
	name     string
	commands []string
}

// inOrder reports whether commands of the block need files of the commands before them.
func (b shellBlock) inOrder() bool {
	return leaves.MatchString(strings.Join(b.commands, "\n"))
}

var (
	block   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	inTable = regexp.MustCompile("(?m)^\\|.*\\| (`lockbench .*) \\|$")
	exit    = regexp.MustCompile(`\b(may )?exit (\d)`)
	leaves  = regexp.MustCompile(`--(out|history|save)|lockbench init|lockbench adapter new|>`)
)

// TestDocuments runs every command of the blocks of the README and of docs, and every
// command of tables of bugs, and asserts the exit codes in their comments; in full only in
// long tests of whole size.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
		t.Skip("redis-server is not in PATH")
	}
	ran := 0
	for _, b := range shellBlocks(t) {
		if strings.HasPrefix(b.name, "matrix.md") && !longtest.Full() {
			continue // testdata/matrix.txtar has the same commands
		}
		ran += len(b.commands)
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.run(t)
		})
	}
	if ran < 30 {
		t.Errorf("the documents have %d commands that can be run, want 30 at least: has their form changed?", ran)
	}
}

func (b shellBlock) run(t *testing.T) {
	dir := withExamples(t)
	for _, command := range b.commands {
		if b.inOrder() {
			shell(t, dir, command)
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			shell(t, withExamples(t), command)
		})
	}
}

// withExamples makes a new directory with a copy of examples.
func withExamples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// documents are the files that users read.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) < 2 {
		t.Fatalf("documents: %v, error %v", paths, err)
	}
	return append(paths, readme)
}

func shellBlocks(t *testing.T) (all []shellBlock) {
	t.Helper()
	for _, path := range documents(t) {
		text := contents(t, path)
		for i, m := range block.FindAllStringSubmatch(text, -1) {
			b := shellBlock{name: fmt.Sprintf("%s block %d", filepath.Base(path), i+1)}
			b.add(strings.Split(strings.TrimSpace(m[1]), "\n")...)
			all = append(all, b)
		}
		for i, m := range inTable.FindAllStringSubmatch(text, -1) {
			b := shellBlock{name: fmt.Sprintf("%s row %d", filepath.Base(path), i+1)}
			b.add(strings.Replace(strings.TrimPrefix(m[1], "`"), "`", "   # ", 1))
			all = append(all, b)
		}
	}
	return all
}

// add adds the commands that a test can run.
func (b *shellBlock) add(commands ...string) {
	for _, command := range commands {
		if runs(command) {
			b.commands = append(b.commands, command)
		}
	}
}

func runs(command string) bool {
	for _, prefix := range notRun {
		if strings.HasPrefix(command, prefix) {
			return false
		}
	}
	_, noPython := exec.LookPath("python3")
	_, noClock := faketime.Find()
	return (noPython == nil || !strings.Contains(command, "python3")) &&
		(noClock == nil || !strings.HasPrefix(command, "lockbench explore --adapter"))
}

// exitNamed returns the exit code that the command's comment names, or 0; and whether 0 is
// valid, too, since the machine decides.
func exitNamed(command string) (code int, orZero bool) {
	_, comment, _ := strings.Cut(command, remark)
	if m := exit.FindStringSubmatch(comment); m != nil {
		code, _ = strconv.Atoi(m[2])
		return code, m[1] != ""
	}
	return 0, true
}

// remark introduces the comment of a command.
const remark = "   # "

var (
	live       = regexp.MustCompile(`^lockbench (run|compare|limit) `)
	operations = regexp.MustCompile(`--operations \d+`)
	schedules  = regexp.MustCompile(`(schedules[ <])\d+`)
	clients    = regexp.MustCompile(`--clients (\d+)`)
)

// meetsTooLittle reports whether a command may exit with code 3 on a slow machine: it measures or
// searches for a fixed time, or was shortened.
func meetsTooLittle(command string) bool {
	return strings.Contains(command, "--budget ") || live.MatchString(command) && (!operations.MatchString(command) || !longtest.Full())
}

// shortened returns a command that does the same with less work, unless long tests are on in whole size.
func shortened(command string) string {
	line, _, _ := strings.Cut(command, remark)
	code, orZero := exitNamed(command)
	switch verb, _, _ := strings.Cut(strings.TrimPrefix(line, "lockbench "), " "); {
	case longtest.Full():
		return line
	case operations.MatchString(line) && strings.Contains(line, "--fault"): // the fault occurs by chance
		return operations.ReplaceAllString(line, "--operations 2500")
	case verb == "compare" && operations.MatchString(line):
		return fewer.Replace(operations.ReplaceAllString(line, "--operations 100 --warmup 0s"))
	case operations.MatchString(line):
		return operations.ReplaceAllString(line, "--operations 600 --warmup 0s") // of 200, by chance, no late release met the next holder
	case verb == "limit":
		return fewer.Replace(line)
	case verb == "run" && code != 0 && !orZero:
		return line + " --fail-fast"
	case verb == "run": // one round for each client
		each := "32"
		if m := clients.FindStringSubmatch(line); m != nil {
			each = m[1]
		}
		return line + " --warmup 0s --operations " + each
	case verb == "matrix":
		return schedules.ReplaceAllString(line, "${1}100")
	case verb == "explore" && strings.Contains(line, "--moves"): // it explores all schedules of these
		return line + " --rounds 1"
	case verb == "explore":
		return schedules.ReplaceAllString(line, "${1}200")
	}
	return fewer.Replace(line)
}

// fewer makes a search run shorter and fewer trials.
var fewer = strings.NewReplacer("--duration 1s", "--duration 100ms --warmup 0s --votes 1", "--risk 0.01", "--risk 0.1", "--run 7", "--run 6", "--run 8", "--run 6")

// shell runs command in dir, with this program as lockbench, and asserts the exit code in
// its comment.
func shell(t *testing.T, dir, command string) {
	t.Helper()
	short := shortened(command)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", short)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), noServer, "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", short, err)
	}
	want, orZero := exitNamed(command)
	got := cmd.ProcessState.ExitCode()
	tooLittle := got == results.Inconclusive && want == 0 && meetsTooLittle(command) && strings.Contains(string(out), "Inconclusive")
	if got != want && (got != 0 || !orZero) && !tooLittle {
		t.Errorf("%s\nexit code: got %d, want %d\n%s", short, got, want, out)
	}
}

// TestSnippets checks that the Go code of the documents is part of the sources that are
// compiled and run.
func TestSnippets(t *testing.T) {
	t.Parallel()
	sources := goSources(t)
	found := 0
	for _, path := range documents(t) {
		for _, m := range goBlock.FindAllStringSubmatch(contents(t, path), -1) {
			found++
			if !strings.Contains(sources, m[1]) {
				t.Errorf("%s: this is in no Go file of the project; hint: take it from a test or an example\n%s", path, m[1])
			}
		}
	}
	if found < 3 {
		t.Errorf("the documents have %d snippets of Go, want 3 at least: has their form changed?", found)
	}
}

func goSources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		tested := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".go") && strings.Contains(path, "/testdata/")
		if err == nil && tested {
			all.WriteString(contents(t, "../../"+path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
