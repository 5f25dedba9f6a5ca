package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/lockbench/lockbench"

// reserved lists the only packages that may directly import paths with a prefix, by prefix.
var reserved = map[string][]string{
	"github.com/redis/rueidis":          {"impls/*"},
	"github.com/redis/go-redis/":        {"impls/*", "internal/testkit/designtest", "internal/service/servers", "internal/drive/inject", "locktest", "internal/explore", "internal/explore/internal/clientpool", "bench/*", "internal/testkit/servertest", "internal/mutants"},
	"github.com/alicebob/miniredis/":    {"impls/*", "internal/testkit/designtest", "internal/service/servers", "internal/drive/inject", "locktest", "internal/explore/stepserver"},
	"github.com/spf13/cobra":            {"cmd/*"},
	"charm.land/":                       {"internal/cli/ui"},
	"github.com/olekukonko/tablewriter": {"reports/internal/terminal"},
	"github.com/goccy/go-yaml":          {"internal/lib/runfile"},
	"github.com/anishathalye/porcupine": {"checker/internal/crosscheck", "bench/*"},
	"github.com/prometheus/c":           {"internal/cli/exporter"}, // client_golang, common
	"github.com/prometheus/procfs":      {"internal/lib/processor", "bench/*"},
	"testing":                           {"locktest", "internal/explore/bubble", "internal/testkit/servertest", "internal/testkit/longtest", "internal/testkit/designtest", "internal/testkit/pagetest", "internal/testkit/runtest", "internal/testkit/servicetest"},
}

// remote lists the packages that must not be linked into a package, directly or indirectly.
var remote = map[string][]string{
	"":                            {"."}, // a dot: any package outside of the standard library
	"history":                     {"github.com/redis/", "github.com/alicebob/miniredis"},
	"checker":                     {"github.com/redis/", "github.com/alicebob/miniredis"},
	"internal/measure":            {"github.com/redis/", "github.com/alicebob/miniredis"},
	"internal/measure/thresholds": {"github.com/redis/", "github.com/alicebob/miniredis"},
	"results":                     {"github.com/redis/", "github.com/alicebob/miniredis"},
	"reports":                     {"github.com/redis/", "github.com/alicebob/miniredis"},
	"workloads":                   {"github.com/redis/", "github.com/alicebob/miniredis"},
	"impls/design":                {"github.com/redis/", "github.com/alicebob/miniredis"},
	// A test of a foreign lock links neither the live driver nor its means to inject faults.
	"locktest": {module + "/internal/service/relay", module + "/internal/drive/load", module + "/internal/drive/inject", module + "/internal/service/servers"},
}

// A listing is the output of go list on a package, without its tests.
type listing struct {
	ImportPath string
	Imports    []string // directly
	Deps       []string // directly and indirectly
}

// TestImportsRunOneWay: data flows one way, contract <- history <- checker <- results <- reports, and
// the code that drives a lock sees neither recorder nor judge.
func TestImportsRunOneWay(t *testing.T) {
	house := allowed(readRooms(t))
	for _, p := range list(t) {
		name := short(p.ImportPath)
		for _, complaint := range slices.Concat(checkHouse(house, name, p), checkReserved(name, p), checkRemote(name, p)) {
			t.Errorf("%s %s; hint: rooms.txt says which packages it may import, the tables above which libraries", p.ImportPath, complaint)
		}
	}
}

// TestTheRulesBite checks that a package that breaks a rule is found, for each kind of rule.
func TestTheRulesBite(t *testing.T) {
	house := allowed(readRooms(t))
	for _, c := range []struct {
		name string
		in   listing
		want []string
	}{
		{"checker", listing{Imports: []string{"fmt", module + "/history", module + "/internal/drive/load"}}, []string{"imports internal/drive/load"}},
		{"impls/lua-token", listing{Imports: []string{module + "/impls/watch-multi"}}, []string{"imports impls/watch-multi"}},
		{"reports/internal/html", listing{Imports: []string{module + "/reports/internal/document", module + "/results"}}, []string{"imports results"}},
		{"workloads", listing{Imports: []string{"github.com/redis/go-redis/v9"}}, []string{"imports github.com/redis/go-redis/v9"}},
		{"internal/drive/load", listing{Imports: []string{"testing"}}, []string{"imports testing"}},
		{"internal/explore", listing{Imports: []string{"testing/synctest"}}, []string{"imports testing/synctest"}},
		{"reports", listing{Imports: []string{"github.com/spf13/cobra"}}, []string{"imports github.com/spf13/cobra"}},
		{"", listing{Deps: []string{"time", "example.org/x"}}, []string{"depends on example.org/x"}},
		{"internal/service/servers", listing{Imports: []string{module, module + "/history", "github.com/redis/go-redis/v9"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := slices.Concat(checkHouse(house, c.name, c.in), checkReserved(c.name, c.in), checkRemote(c.name, c.in))
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("complaints (-got +want):\n%s", diff)
			}
		})
	}
}

func checkHouse(house map[string][]string, name string, p listing) (complaints []string) {
	allowed, judged := ruleFor(house, name)
	for _, path := range p.Imports {
		if judged && isOurs(path) && !slices.ContainsFunc(allowed, matching(short(path))) {
			complaints = append(complaints, "imports "+short(path))
		}
	}
	return complaints
}

func checkReserved(name string, p listing) (complaints []string) {
	for prefix, allowed := range reserved {
		for _, path := range p.Imports {
			if strings.HasPrefix(path, prefix) && !slices.ContainsFunc(allowed, matching(name)) {
				complaints = append(complaints, "imports "+path)
			}
		}
	}
	return complaints
}

func checkRemote(name string, p listing) (complaints []string) {
	for _, prefix := range remote[name] {
		for _, path := range p.Deps {
			domain, _, _ := strings.Cut(path, "/")
			if prefix == "." && strings.Contains(domain, ".") || prefix != "." && strings.HasPrefix(path, prefix) {
				complaints = append(complaints, "depends on "+path)
			}
		}
	}
	return complaints
}

// ruleFor returns the rule for a package: its own, else the rule of its siblings, else the rule of
// the folders above.
func ruleFor(rules map[string][]string, name string) ([]string, bool) {
	if rule, ok := rules[name]; ok {
		return rule, true
	}
	for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
		if rule, ok := rules[name[:at]+"/*"]; ok {
			return rule, true
		}
	}
	return nil, false
}

// matching returns whether a pattern fits name: itself, or "parent/*" for
// everything below the parent.
func matching(name string) func(pattern string) bool {
	return func(pattern string) bool {
		below, all := strings.CutSuffix(pattern, "*")
		return name == pattern || all && strings.HasPrefix(name, below)
	}
}

func isOurs(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func list(t *testing.T) (packages []listing) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listing
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
