// Command trail counts the functions and packages of lockbench that one acquire passes on its way
// from the driver to the terminal.
//
// It builds the command with coverage and makes three runs of one client: a design with n
// iterations, the same with twice as many, and two designs with n iterations each. A function works
// for an acquire and its release if a block of it ran for each additional iteration of the second
// run. It works on the findings if it is in a package that depends on the checker, or in a package
// of reports, and ran more often in the third run than in the first.
//
//	go run ./internal/testkit/trail [-n 2000] [-v]
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/lockbench/lockbench"

func main() {
	n := flag.Int("n", 2000, "iterations of the shorter run")
	verbose := flag.Bool("v", false, "list the functions")
	flag.Parse()
	if err := run(os.Stdout, *n, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "trail:", err)
		os.Exit(2)
	}
}

func run(w io.Writer, n int, verbose bool) error {
	dir, err := os.MkdirTemp("", "trail")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	command := filepath.Join(dir, "lockbench")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+"/...", "-o", command, module+"/cmd/lockbench")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build with coverage: %w\n%s", err, out)
	}
	var blocks [3][]block
	for i, r := range []struct {
		designs    string
		iterations int
	}{{"lua-token/token", n}, {"lua-token/token", 2 * n}, {"lua-token/token,lua-token/expire", n}} {
		if blocks[i], err = covered(command, filepath.Join(dir, strconv.Itoa(i)), r.designs, r.iterations); err != nil {
			return err
		}
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	judging, err := dependents(module + "/checker")
	if err != nil {
		return err
	}
	at := func(file string) string { return filepath.Join(strings.TrimSpace(string(root)), file) }
	each, err := functionsOf(grown(blocks[0], blocks[1], int64(n)), at)
	if err != nil {
		return err
	}
	found, err := functionsOf(grown(blocks[0], blocks[2], 1), at)
	if err != nil {
		return err
	}
	// The self-check runs a lock that is broken on purpose as often.
	maps.DeleteFunc(each, func(file string, _ []string) bool { return path.Dir(file) == "internal/mutants" })
	for file, names := range found {
		if p := path.Dir(file); !judging[p] && !strings.HasPrefix(p, "reports/") {
			delete(found, file)
			continue
		}
		found[file] = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(each[file], name) })
	}
	write(w, "an acquire and its release, from driver to judge", each, verbose)
	write(w, "the findings of a run, from judge to terminal", found, verbose)
	fmt.Fprintf(w, "%d packages together\n", len(packagesOf(each, found)))
	return nil
}

// dependents returns the packages that depend on one, by their folders.
func dependents(on string) (map[string]bool, error) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", module+"/...").Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if deps := strings.Fields(line); slices.Contains(deps[1:], on) {
			all[strings.TrimPrefix(deps[0], module+"/")] = true
		}
	}
	return all, nil
}

// covered runs the command with the iterations of one client, and reads its coverage into dir.
func covered(command, dir, designs string, iterations int) ([]block, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	c := exec.Command(command, "run", "--design", designs, "--clients", "1", "--workload", "mutex",
		"--hold", "0s", "--warmup", "0s", "--duration", "0s", "--operations", strconv.Itoa(iterations), "--explore", "0s")
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	if out, err := c.CombinedOutput(); err != nil && c.ProcessState.ExitCode() != 3 { // too few occasions
		return nil, fmt.Errorf("%v: %w\n%s", c.Args, err, out)
	}
	text := filepath.Join(dir, "text")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+text).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("read the coverage: %w\n%s", err, out)
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f)
}

// packagesOf returns the functions by package.
func packagesOf(all ...map[string][]string) map[string][]string {
	packages := map[string][]string{}
	for _, functions := range all {
		for file, names := range functions {
			if p := path.Dir(file); len(names) > 0 {
				packages[p] = append(packages[p], names...)
			}
		}
	}
	return packages
}

// write prints the functions by package, the packages with most first.
func write(w io.Writer, of string, functions map[string][]string, verbose bool) {
	packages := packagesOf(functions)
	total := 0
	for _, names := range packages {
		total += len(names)
	}
	fmt.Fprintf(w, "%s: %d functions in %d packages\n", of, total, len(packages))
	order := slices.SortedFunc(maps.Keys(packages), func(a, b string) int {
		return cmp.Or(len(packages[b])-len(packages[a]), cmp.Compare(a, b))
	})
	for _, p := range order {
		fmt.Fprintf(w, "%5d %s\n", len(packages[p]), p)
		if verbose {
			for _, name := range slices.Sorted(slices.Values(packages[p])) {
				fmt.Fprintf(w, "      %s\n", name)
			}
		}
	}
}
