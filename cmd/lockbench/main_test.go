package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/lib/faketime"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/service/postgres"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// atOnce is the number of tests that run at one time, independent of the number of cores:
// most of them wait for a run to be over.
const atOnce = "8"

func TestMain(m *testing.M) {
	bubble.Child(exploring.FindDesign) // in a process that explore started from within a test, this does not return
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"lockbench": main})
}

// TestScripts runs the real command as users do. It adds the commands exits, inside, flip, cut,
// rewrite, schema, timeless and sametable to testscript's.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: setUp,
		Condition: func(name string) (bool, error) {
			switch name {
			case "long":
				return longtest.On(), nil
			case "redis":
				_, err := exec.LookPath("redis-server")
				return err == nil || os.Getenv("LOCKBENCH_REQUIRE_SERVERS") == "1", nil
			case "postgres":
				return postgres.Backend{Pooled: true}.Missing() == nil || os.Getenv("LOCKBENCH_REQUIRE_SERVERS") == "1", nil
			case "mariadb":
				return mariadb.Missing() == nil || os.Getenv("LOCKBENCH_REQUIRE_SERVERS") == "1", nil
			case "faketime":
				_, err := faketime.Find()
				return err == nil || os.Getenv("LOCKBENCH_REQUIRE_SERVERS") == "1", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "inside": inside, "flip": flip, "cut": cut, "schema": schema, "timeless": timeless, "sametable": sameTable, "rewrite": rewrite,
		},
	})
}

// setUp leaves nothing but lockbench in PATH, so that runs use the embedded server; a
// script that needs other programs sets PATH to $FULLPATH. $SCHEDULES is the number of
// schedules to search, $HISTORY the saved history of examples, with a lock that breaks its
// claims. $ADDRESS is a free address on this machine.
func setUp(env *testscript.Env) error {
	full := env.Getenv("PATH")
	env.Setenv("FULLPATH", full)
	env.Setenv("PATH", filepath.SplitList(full)[0])
	env.Setenv(serverVariable, "")
	env.Setenv("SCHEDULES", strconv.Itoa(longtest.Times(100, 300)))
	example, err := filepath.Abs("../../examples/history.jsonl")
	if err != nil {
		return err
	}
	env.Setenv("HISTORY", example)
	address, err := servers.FreePort()
	if err != nil {
		return err
	}
	env.Setenv("ADDRESS", address)
	tmp := filepath.Join(env.WorkDir, "tmp")
	env.Setenv("TMPDIR", tmp)
	env.Setenv("TMP", tmp)
	return os.MkdirAll(tmp, 0o755)
}

// exits runs a command and asserts its exit code, which may be one of several:
// exits 3 lockbench check x, or exits 0|3 lockbench run.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exited *exec.ExitError
		if !errors.As(err, &exited) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		got = exited.ExitCode()
	}
	wants(ts, args, got)
}

// inside runs a command within the test, which takes a fraction of the time for one that
// ends at once: for commands that need no server, no file and no working directory.
func inside(ts *testscript.TestScript, _ bool, args []string) {
	wants(ts, args, execute(context.Background(), args[2:], ts.Stdout(), ts.Stderr()))
}

func wants(ts *testscript.TestScript, args []string, got int) {
	if want := strings.Split(args[0], "|"); !slices.Contains(want, strconv.Itoa(got)) {
		ts.Fatalf("%v: exit code %d, want %s", args[1:], got, strings.Join(want, " or "))
	}
}

// flip inverts the byte at a share of a file: flip run.lbh 0.5.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	path, text, at := damaged(ts, args)
	text[at] ^= 0xff
	ts.Check(os.WriteFile(path, text, 0o644))
}

// cut keeps a share of a file: cut run.lbh 0.5.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	path, text, at := damaged(ts, args)
	ts.Check(os.WriteFile(path, text[:at], 0o644))
}

func damaged(ts *testscript.TestScript, args []string) (path string, text []byte, at int) {
	share, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	path = ts.MkAbs(args[0])
	text, err = os.ReadFile(path)
	ts.Check(err)
	return path, text, int(share * float64(len(text)))
}

// rewrite replaces a text throughout a file: rewrite m.json old new.
func rewrite(ts *testscript.TestScript, _ bool, args []string) {
	before := ts.ReadFile(args[0])
	after := strings.ReplaceAll(before, args[1], args[2])
	if before == after {
		ts.Fatalf("%q is not in %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(after), 0o644))
}

// timings are the only parts that may differ between two explorations with one seed.
var timings = regexp.MustCompile(`(?s)"timings": \{[^{}]*(\{[^{}]*\}[^{}]*)?\}`)

// timeless compares two JSON results without their timings: timeless a.json b.json.
func timeless(ts *testscript.TestScript, _ bool, args []string) {
	first, second := timings.ReplaceAllString(ts.ReadFile(args[0]), ""), timings.ReplaceAllString(ts.ReadFile(args[1]), "")
	if diff := cmp.Diff(first, second); diff != "" || first == ts.ReadFile(args[0]) {
		ts.Fatalf("%v differ in more than timings, or have none:\n%s", args, diff)
	}
}

// sameTable asserts that two texts have the same first table of steps: sametable stdout
// a.txt.
func sameTable(ts *testscript.TestScript, _ bool, args []string) {
	table := regexp.MustCompile(`(?m)^ +time +client.*\n(?: +\S.*\n)+`)
	first, second := table.FindString(ts.ReadFile(args[0])), table.FindString(ts.ReadFile(args[1]))
	if diff := cmp.Diff(first, second); diff != "" || first == "" {
		ts.Fatalf("the tables of %v differ, or there is none:\n%s", args, diff)
	}
}

// noServer is an environment setting for commands that tests start.
const noServer = serverVariable + "="
