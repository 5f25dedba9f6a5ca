// Command libraries tests versions of lock libraries with package locktest, each in a module of its
// own in a temporary folder, and prints a table of caught and missed known bugs. See libraries.sh.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A library is one version of a library, with its known bugs.
type library struct {
	name, module, version string
	on                    *service
	doors                 []door
}

// A door is a test of the adapter, with the bug that it should find.
type door struct {
	test string
	bug  string // empty for no known bug
	cell string // a cell that the bug breaks
}

// Bugs of several libraries.
const (
	cut    = "leases are cut to whole milliseconds"
	resent = "a SET NX that the client sends again is refused by its own key"
	prefix = "an acquire takes a key whose token begins with its own"
	pooled = "Close leaves the session in the pool, with the locks that it has"
	crowd  = "all that try a free key at once are refused"
	beats  = "the heartbeat ends after one beat"
)

// tested are the libraries with adapters in testdata.
var tested = []library{
	{"redislock", "github.com/bsm/redislock", "v0.9.4", onRedis, []door{
		{"Explore", cut, "exclusion"}, {"Whole", prefix, "exclusion"}, {"Run", cut, "lease"}}},
	{"redislock", "github.com/bsm/redislock", "v0.10.0", onRedis, []door{
		{"Explore", cut, "exclusion"}, {"Whole", prefix, "exclusion"}, {"Run", cut, "lease"}}},
	{"redsync", "github.com/go-redsync/redsync/v4", "v4.12.0", onRedis, []door{
		{"Explore", cut, "exclusion"}, {"Whole", "an extend that fails frees the key", "lease@lost-reply"}, {"Run", cut, "lease"}}},
	{"redsync", "github.com/go-redsync/redsync/v4", "v4.14.1", onRedis, []door{
		{"Explore", cut, "exclusion"}, {"Whole", resent, "answers@lost-reply"}, {"Run", cut, "lease"}}},
	{"redsync", "github.com/go-redsync/redsync/v4", "v4.18.1", onRedis, []door{
		{"Explore", cut, "exclusion"}, {"Whole", resent, "answers@lost-reply"}, {"Run", cut, "lease"}}},
	{"rueidislock", "github.com/redis/rueidis", "v1.0.79", onRedis, []door{{"Run", "", ""}}},
	{"go-zero", "github.com/zeromicro/go-zero", "v1.9.2", onRedis, []door{{"Run", "", ""}}},
	{"go-zero", "github.com/zeromicro/go-zero", "v1.10.3", onRedis, []door{{"Run", "", ""}}},
	{"pglock", "cirello.io/pglock", "v1.2.0", onPostgres, []door{{"Run", beats, "exclusion@outlived"}}},
	{"pglock", "cirello.io/pglock", "v1.16.0", onPostgres, []door{{"Run", "", ""}}},
	{"advisory", "github.com/allisson/go-pglock/v3", "v3.0.0", onPostgres, []door{{"Run", pooled, "recovery@crash"}}},
	{"etcd", "go.etcd.io/etcd/client/v3", "v3.5.0", onEtcd, []door{{"Run", crowd, "no-spurious-refusal"}}},
	{"etcd", "go.etcd.io/etcd/client/v3", "v3.7.3", onEtcd, []door{{"Run", crowd, "no-spurious-refusal"}}},
}

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "libraries:", err)
		os.Exit(1)
	}
}

// run tests the libraries with names that begin with one of the arguments, by default all.
func run(ctx context.Context, w io.Writer, only []string) (err error) {
	services := running{}
	defer func() { err = errors.Join(err, services.stop()) }()
	fmt.Fprint(w, "| library | version | test | known bug | cells that fail | | seconds |\n|---|---|---|---|---|---|---|\n")
	for _, l := range tested {
		if len(only) > 0 && !slices.ContainsFunc(only, func(name string) bool { return strings.HasPrefix(l.name+"@"+l.version, name) }) {
			continue
		}
		address, err := services.address(ctx, l.on)
		if err != nil {
			return err
		}
		environment := append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", l.on.variable+"="+address)
		if err := l.test(ctx, w, environment); err != nil {
			return fmt.Errorf("%s %s: %w", l.name, l.version, err)
		}
	}
	return nil
}

// test makes the module of l, runs its tests, and writes a row for each.
func (l library) test(ctx context.Context, w io.Writer, environment []string) error {
	dir, err := os.MkdirTemp("", "libraries-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := l.write(dir); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", "lock.test", ".")
	build.Dir, build.Env = dir, environment
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	if err := l.built(dir, environment); err != nil {
		return err
	}
	for _, d := range l.doors {
		began := time.Now()
		test := exec.CommandContext(ctx, "./lock.test", "-test.v", "-test.run", "^Test"+d.test+"$")
		test.Dir, test.Env = dir, environment
		out, _ := test.CombinedOutput() // the lines of a failed test have the result
		if os.Getenv("VERBOSE") != "" {
			os.Stderr.Write(out)
		}
		cells, too, err := failing(string(out), d.test)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", d.test, err, out)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %.0f |\n", l.name, l.version, d.test, d.bug, strings.Join(cells, ", "), d.verdict(cells, too), time.Since(began).Seconds())
	}
	return nil
}

// write writes the module: lockbench's requirements, with the library's version in place of any
// other.
func (l library) write(dir string) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	requirements, err := os.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("%w; hint: run it in the folder of lockbench", err)
	}
	text := strings.Replace(string(requirements), "module github.com/lockbench/lockbench", "module example.org/lock", 1) +
		fmt.Sprintf("\nrequire (\n\tgithub.com/lockbench/lockbench v0.0.0\n\t%s %s\n)\nreplace (\n\tgithub.com/lockbench/lockbench => %s\n\t%[1]s => %[1]s %[2]s\n)\n", l.module, l.version, root)
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	adapter, err := os.ReadFile(filepath.Join("bench", "libraries", "testdata", l.name, "lock_test.go"))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"go.mod": []byte(text), "go.sum": sums, "lock_test.go": adapter} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// built returns an error if another version was built.
func (l library) built(dir string, environment []string) error {
	version := exec.Command("go", "list", "-m", "-f", "{{with .Replace}}{{.Version}}{{end}}", l.module)
	version.Dir, version.Env = dir, environment
	out, err := version.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != l.version {
		return errors.Join(fmt.Errorf("what was built is %q", got), err)
	}
	return nil
}

var broken = regexp.MustCompile(`(?m)^=== RUN +Test(\w+)/(\S+)\n.*: broken;.*; start with `)

var subtest = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): Test(\w+)/(\S+) `)

// failing lists in cells the cells with failing subtests, and in too the cells that the same causes
// break as well. It fails if no subtest passed or failed.
func failing(out, test string) (cells, too []string, err error) {
	any := false
	for _, m := range subtest.FindAllStringSubmatch(out, -1) {
		if any = any || m[1] != "SKIP"; m[2] == test && m[1] == "FAIL" {
			cells = append(cells, m[3])
		}
	}
	for _, m := range broken.FindAllStringSubmatch(out, -1) {
		if m[1] == test {
			too = append(too, m[2])
		}
	}
	if !any {
		return nil, nil, errors.New("it tested nothing")
	}
	return cells, too, nil
}

// verdict describes whether the bug was found.
func (d door) verdict(cells, too []string) string {
	switch {
	case d.bug == "" && len(cells) == 0:
		return "held"
	case d.bug == "":
		return "**not known before**"
	case slices.Contains(slices.Concat(cells, too), d.cell):
		return "caught"
	}
	return "**missed**"
}
