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

// house says which of our packages a package may import itself: data flows one
// way, contract <- history <- checker <- reports, and what drives a lock sees
// neither recorder nor judge. Packages that are not named here may import any.
var house = map[string][]string{
	"":                        {},
	"history":                 {"", "internal/suggest"},
	"history/synthetic":       {"", "history"},
	"checker":                 {"", "history", "measure/series", "internal/clients", "internal/crosscheck", "internal/fairness", "internal/guarded", "internal/interval", "internal/lingering", "internal/optime", "internal/partition", "internal/relay", "internal/spread"},
	"measure":                 {"", "history", "measure/series"},
	"measure/series":          {},
	"gates":                   {"", "checker", "measure", "internal/suggest"},
	"reports":                 {"", "history", "checker", "measure", "measure/series", "gates", "limits", "internal/statistics", "internal/suggest"},
	"reports/html":            {"", "checker", "history", "reports"},
	"exporter":                {"", "history", "checker", "measure"},
	"limits":                  {},
	"ui":                      {"measure/series", "reports"},
	"workloads":               {"", "internal/suggest"},
	"impls/design":            {""},
	"impls":                   {"", "impls/*", "internal/suggest"},
	"impls/*":                 {"", "impls/design", "impls/design/batching"},
	"impls/design/batching":   {"impls/design"},
	"servers":                 {"", "history"},
	"faults":                  {"", "history", "impls/design", "servers", "internal/suggest"},
	"load":                    {"", "faults", "history", "impls/design", "servers", "workloads", "internal/suggest", "internal/processor", "internal/occupancy"},
	"explore":                 {"", "history", "checker", "impls/design", "explore/gate", "internal/suggest"},
	"explore/gate":            {"explore/gate/*"},
	"explore/gate/*":          {},
	"explore/bubble":          {"", "explore", "impls/design"},
	"scenario":                {"internal/suggest"},
	"internal/*":              {},
	"internal/clients":        {"history", "internal/optime"},
	"internal/crosscheck":     {"history", "internal/optime", "internal/partition"}, // and never the checker
	"internal/fairness":       {"history"},
	"internal/guarded":        {"history"},
	"internal/interval":       {"history", "internal/optime"},
	"internal/lingering":      {"", "history", "internal/clients", "internal/optime"},
	"internal/optime":         {"history"},
	"internal/servertest":     {"servers", "explore/gate"},
	"internal/occupancy":      {""},
	"internal/zoo":            {"", "impls/design"},
	"impls/design/designtest": {"", "impls/design", "internal/longtest", "internal/servertest"},
	"cmd/lockbench":           {"", "history", "history/*", "checker", "measure", "gates", "exporter", "reports", "reports/html", "limits", "measure/series", "ui", "workloads", "impls", "impls/*", "servers", "faults", "load", "explore", "explore/bubble", "scenario", "internal/*"},
}

// reserved says which packages alone may import, themselves, what begins with
// the path on the left.
var reserved = map[string][]string{
	"github.com/redis/rueidis":          {"impls/*", "impls/design/batching"},
	"github.com/redis/go-redis/":        {"impls/*", "impls/design/*", "servers", "faults", "locktest", "explore", "bench/*", "internal/servertest", "internal/zoo"},
	"github.com/alicebob/miniredis/":    {"impls/*", "servers", "faults", "locktest", "explore/gate"},
	"github.com/spf13/cobra":            {"cmd/*"},
	"charm.land/":                       {"ui"},
	"github.com/goccy/go-yaml":          {"scenario"},
	"github.com/anishathalye/porcupine": {"internal/crosscheck", "bench/*"},
	"github.com/prometheus/":            {"exporter"},
	"testing":                           {"locktest", "explore/bubble", "internal/servertest", "internal/longtest", "impls/design/designtest"},
}

// remote says what must not be linked into a package, by whatever way.
var remote = map[string][]string{
	"":          {"."}, // a dot: anything that is not of the standard library
	"history":   {"github.com/redis/", "github.com/alicebob/miniredis"},
	"checker":   {"github.com/redis/", "github.com/alicebob/miniredis"},
	"measure":   {"github.com/redis/", "github.com/alicebob/miniredis"},
	"gates":     {"github.com/redis/", "github.com/alicebob/miniredis"},
	"reports":   {"github.com/redis/", "github.com/alicebob/miniredis"},
	"workloads": {"github.com/redis/", "github.com/alicebob/miniredis"},
	// A test of somebody else's lock links neither the live driver nor what it strikes with.
	"locktest": {"github.com/Shopify/toxiproxy", module + "/load", module + "/faults", module + "/servers"},
}

// A listing is what go list tells of a package, tests left out.
type listing struct {
	ImportPath string
	Imports    []string // itself
	Deps       []string // by whatever way
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range list(t) {
		name := short(p.ImportPath)
		for _, complaint := range slices.Concat(checkHouse(name, p), checkReserved(name, p), checkRemote(name, p)) {
			t.Errorf("%s %s; hint: design.md says which way imports run, the tables above repeat it", p.ImportPath, complaint)
		}
	}
}

// TestTheRulesBite shows each kind of rule a package that breaks it.
func TestTheRulesBite(t *testing.T) {
	for _, c := range []struct {
		name string
		in   listing
		want []string
	}{
		{"checker", listing{Imports: []string{"fmt", module + "/history", module + "/load"}}, []string{"imports load"}},
		{"impls/lua-token", listing{Imports: []string{module + "/impls/watch-multi"}}, []string{"imports impls/watch-multi"}},
		{"workloads", listing{Imports: []string{"github.com/redis/go-redis/v9"}}, []string{"imports github.com/redis/go-redis/v9"}},
		{"load", listing{Imports: []string{"testing"}}, []string{"imports testing"}},
		{"explore", listing{Imports: []string{"testing/synctest"}}, []string{"imports testing/synctest"}},
		{"reports", listing{Imports: []string{"github.com/spf13/cobra"}}, []string{"imports github.com/spf13/cobra"}},
		{"", listing{Deps: []string{"time", "example.org/x"}}, []string{"depends on example.org/x"}},
		{"servers", listing{Imports: []string{module, module + "/history", "github.com/redis/go-redis/v9"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := slices.Concat(checkHouse(c.name, c.in), checkReserved(c.name, c.in), checkRemote(c.name, c.in))
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("complaints (-got +want):\n%s", diff)
			}
		})
	}
}

func checkHouse(name string, p listing) (complaints []string) {
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

// ruleFor returns the rule for a package: its own, else that of its siblings.
func ruleFor(rules map[string][]string, name string) ([]string, bool) {
	if rule, ok := rules[name]; ok {
		return rule, true
	}
	parent, _, _ := strings.Cut(name, "/")
	rule, ok := rules[parent+"/*"]
	return rule, ok
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
